resource "kaleido_consortium" "trade" {
  name = "Coffee trade"
}

data "kaleido_privatestack_bridge" "bridge" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = "u0l8vd3m7e"
  service_id     = "u0s2fq6h1c"
}

output "bridge" {
  value     = data.kaleido_privatestack_bridge.bridge.config_json
  sensitive = true
}
