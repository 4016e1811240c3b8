variable "consortium_id" {
  type = string
}

resource "kaleido_membership" "member" {
  consortium_id = var.consortium_id
  org_name      = "Grower"
}
