variable "name" {
  type    = string
  default = "Sugar trade"
}

variable "provider_type" {
  type    = string
  default = "pantheon"
}

variable "consensus" {
  type    = string
  default = "ibft"
}

locals {
  environment = "${var.name}: test"
}

resource "kaleido_consortium" "consortium" {
  name = var.name
}

resource "kaleido_membership" "member" {
  consortium_id = kaleido_consortium.consortium.id
  org_name      = "Miller"
}

resource "kaleido_environment" "env" {
  consortium_id  = kaleido_consortium.consortium.id
  name           = local.environment
  env_type       = var.provider_type
  consensus_type = var.consensus
  depends_on     = [kaleido_membership.member]
}

output "environment" {
  value = kaleido_environment.env.id
}
