resource "kaleido_consortium" "trade" {
  name = "Tea trade"
}

resource "kaleido_environment" "ledger" {
  for_each = {
    dev  = "raft"
    prod = "ibft"
  }
  consortium_id  = kaleido_consortium.trade.id
  name           = each.key
  env_type       = "quorum"
  consensus_type = each.value
}
