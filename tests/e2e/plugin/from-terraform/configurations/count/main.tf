terraform {
  required_providers {
    kaleido = {
      source = "kaleido-io/kaleido"
    }
  }
}

resource "kaleido_consortium" "consortium" {
  name        = "Coffee trade"
  description = "who shipped what"
}

resource "kaleido_membership" "member" {
  count         = 2
  consortium_id = kaleido_consortium.consortium.id
  org_name      = "Org ${count.index + 1}"
}

resource "kaleido_environment" "env" {
  consortium_id  = kaleido_consortium.consortium.id
  name           = "Development"
  description    = "Created with Terraform"
  env_type       = "quorum"
  consensus_type = "ibft"
}

resource "kaleido_node" "node" {
  count          = 2
  consortium_id  = kaleido_consortium.consortium.id
  environment_id = kaleido_environment.env.id
  membership_id  = kaleido_membership.member[count.index].id
  name           = "Node ${count.index + 1}"
  size           = "small"
}

output "nodes" {
  value = [kaleido_node.node[0].id, kaleido_node.node[1].id]
}
