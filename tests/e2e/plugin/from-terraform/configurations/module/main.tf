resource "kaleido_consortium" "consortium" {
  name = "Rice trade"
}

module "members" {
  source        = "./network"
  consortium_id = kaleido_consortium.consortium.id
}
