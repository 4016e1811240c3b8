// Turns a folder of Terraform into a Pulumi program, as `pulumi convert --from terraform` does: with the converter that is in Go's
// module proxy (the one of Pulumi's Terraform bridge), and the mapping that the plugin answers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/blang/semver"
	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tf2pulumi/convert"
	yaml "github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/codegen"
	mapping "github.com/pulumi/pulumi/pkg/v3/codegen/convert"
	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

type generator func(*pcl.Program) (map[string][]byte, hcl.Diagnostics, error)

var generators = map[string]generator{
	"typescript": nodejs.GenerateProgram,
	"python":     python.GenerateProgram,
	"go":         golang.GenerateProgram,
	"yaml":       yaml.GenerateProgram,
}

func main() {
	if len(os.Args) != 6 {
		fail(fmt.Errorf("usage: from-terraform SOURCE SCHEMA MAPPING TARGET LANGUAGE"))
	}
	source, schemaFile, mappingFile, target, language := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	loader, err := loaderOf(schemaFile)
	fail(err)
	mapped, err := os.ReadFile(mappingFile)
	fail(err)
	_, program, err := convert.Eject(source, loader, mapper(mapped))
	fail(err)
	files, diagnostics, err := generators[language](program)
	fail(err)
	if diagnostics.HasErrors() {
		fail(diagnostics)
	}
	for name, text := range files {
		file := filepath.Join(target, name)
		fail(os.MkdirAll(filepath.Dir(file), 0o755))
		fail(os.WriteFile(file, text, 0o644))
	}
}

// The only provider that is known.
type mapper []byte

func (m mapper) GetMapping(_ context.Context, provider string, _ *mapping.MapperPackageHint) ([]byte, error) {
	if provider != "kaleido" {
		return nil, nil
	}
	return m, nil
}

// The only package that is known.
type loader struct{ pkg *schema.Package }

func loaderOf(file string) (loader, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return loader{}, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return loader{}, err
	}
	pkg, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{})
	if err == nil && diagnostics.HasErrors() {
		err = diagnostics
	}
	return loader{pkg}, err
}

func (l loader) LoadPackage(string, *semver.Version) (*schema.Package, error) { return l.pkg, nil }

func (l loader) LoadPackageV2(context.Context, *schema.PackageDescriptor) (*schema.Package, error) {
	return l.pkg, nil
}

func (l loader) LoadPackageReference(string, *semver.Version) (schema.PackageReference, error) {
	return l.pkg.Reference(), nil
}

func (l loader) LoadPackageReferenceV2(
	context.Context, *schema.PackageDescriptor,
) (schema.PackageReference, error) {
	return l.pkg.Reference(), nil
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
