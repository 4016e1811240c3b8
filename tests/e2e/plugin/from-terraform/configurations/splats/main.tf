provider "kaleido" {
  api     = "https://console.kaleido.io/api/v1"
  api_key = "from the environment"
}

resource "kaleido_consortium" "consortium" {
  name = "Salt trade"
}

resource "kaleido_membership" "member" {
  count         = 2
  consortium_id = kaleido_consortium.consortium.id
  org_name      = "Org ${count.index + 1}"
}

resource "kaleido_environment" "env" {
  consortium_id  = kaleido_consortium.consortium.id
  name           = "Test"
  env_type       = "geth"
  consensus_type = "poa"
}

resource "kaleido_service" "ipfs" {
  count          = 2
  consortium_id  = kaleido_consortium.consortium.id
  environment_id = kaleido_environment.env.id
  membership_id  = element(kaleido_membership.member.*.id, count.index)
  name           = "IPFS ${count.index + 1}"
  service_type   = "ipfs"
  depends_on     = [kaleido_environment.env]
}
