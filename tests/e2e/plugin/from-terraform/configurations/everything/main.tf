resource "kaleido_consortium" "trade" {
  name              = "Cocoa trade"
  description       = "from the farm to the bar"
  shared_deployment = true
}

resource "kaleido_membership" "farm" {
  consortium_id = kaleido_consortium.trade.id
  org_name      = "Farm"
  pre_existing  = true
}

resource "kaleido_czone" "ohio" {
  consortium_id = kaleido_consortium.trade.id
  name          = "ohio"
  region        = "us-east-2"
  cloud         = "aws"
}

resource "kaleido_invitation" "bar" {
  consortium_id = kaleido_consortium.trade.id
  org_name      = "Bar"
  email         = "ops@bar.example"
}

resource "kaleido_environment" "ledger" {
  consortium_id  = kaleido_consortium.trade.id
  name           = "ledger"
  description    = "one ledger"
  env_type       = "geth"
  consensus_type = "poa"
  multi_region   = true
  block_period   = 5
  prefunded_accounts = {
    "f601c8a58a738c1055094d0cf3018266d562c4a5" = "3000000000000000000"
  }
  test_features_json = jsonencode({ quick = true })
}

resource "kaleido_ezone" "ohio" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.ledger.id
  name           = "ohio"
  region         = "us-east-2"
  cloud          = "aws"
}

resource "kaleido_configuration" "gas" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.ledger.id
  membership_id  = kaleido_membership.farm.id
  name           = "gas"
  type           = "node_config"
  details_json   = jsonencode({ gas_price = "1" })
}

resource "kaleido_node" "farm" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.ledger.id
  membership_id  = kaleido_membership.farm.id
  name           = "farm-1"
  role           = "validator"
  size           = "small"
  zone_id        = kaleido_ezone.ohio.id
  node_config_id = kaleido_configuration.gas.id
}

resource "kaleido_app_creds" "app" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.ledger.id
  membership_id  = kaleido_membership.farm.id
  name           = "app"
}

resource "kaleido_service" "registry" {
  consortium_id     = kaleido_consortium.trade.id
  environment_id    = kaleido_environment.ledger.id
  membership_id     = kaleido_membership.farm.id
  name              = "registry"
  service_type      = "idregistry"
  shared_deployment = true
}

resource "kaleido_service" "documents" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.ledger.id
  membership_id  = kaleido_membership.farm.id
  name           = "documents"
  service_type   = "documentstore"
  details_json   = jsonencode({ backup = "none" })
}

resource "kaleido_destination" "invoices" {
  consortium_id          = kaleido_consortium.trade.id
  membership_id          = kaleido_membership.farm.id
  service_type           = "documentstore"
  service_id             = kaleido_service.documents.id
  name                   = "invoices"
  idregistry_id          = kaleido_service.registry.id
  auto_verify_membership = true
}

output "rpc" {
  value = kaleido_node.farm.https_url
}
