package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	hclsyntax "github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/hashicorp/hcl/v2"
)

const tool = "pulumi-language"

type files = map[string][]byte

// What Pulumi's own packages generate for a language.
type generator struct {
	sdk     func(*schema.Package, *pulumirpc.GeneratePackageRequest, schema.ReferenceLoader) (files, error)
	program func(*pcl.Program) (files, hcl.Diagnostics, error)
	project func(string, workspace.Project, *pcl.Program, map[string]string) error
}

var generators = map[string]generator{
	"nodejs": {
		sdk: func(p *schema.Package, r *pulumirpc.GeneratePackageRequest, loader schema.ReferenceLoader) (files, error) {
			generated, err := nodejs.GeneratePackage(tool, p, r.ExtraFiles, r.LocalDependencies, r.Local, loader)
			generated = fromParent(generated, `from "./utilities"`, `from "../utilities"`)
			return fromParent(generated, `from "./types/`, `from "../types/`), err
		},
		program: nodejs.GenerateProgram,
		project: func(folder string, project workspace.Project, p *pcl.Program, local map[string]string) error {
			return nodejs.GenerateProject(folder, project, p, local, false)
		},
	},
	"python": {
		sdk: func(p *schema.Package, r *pulumirpc.GeneratePackageRequest, loader schema.ReferenceLoader) (files, error) {
			generated, err := python.GeneratePackage(tool, p, r.ExtraFiles, loader)
			return fromParent(generated, "from . import _utilities", "from .. import _utilities"), err
		},
		program: python.GenerateProgram,
		project: func(folder string, project workspace.Project, p *pcl.Program, local map[string]string) error {
			return python.GenerateProject(folder, project, p, local, "", "")
		},
	},
	"go": {
		sdk: func(p *schema.Package, r *pulumirpc.GeneratePackageRequest, _ schema.ReferenceLoader) (files, error) {
			return golang.GeneratePackage(tool, p, r.LocalDependencies)
		},
		program: golang.GenerateProgram,
		project: golang.GenerateProject,
	},
}

// Mends imports in the folders of the settings and the types: the generators count on what filepath.Rel("config", "") answered
// before Go 1.26.
func fromParent(generated files, wrong, right string) files {
	for name, text := range generated {
		if folder := path.Base(path.Dir(name)); folder == "config" || folder == "types" {
			generated[name] = bytes.ReplaceAll(text, []byte(wrong), []byte(right))
		}
	}
	return generated
}

// A language host of code generation alone.
type companion struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	language string
}

func (c *companion) GeneratePackage(
	_ context.Context, req *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, err := schema.NewLoaderClient(req.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(req.Schema), &spec); err != nil {
		return nil, err
	}
	cached := schema.NewCachedLoader(loader)
	bound, diagnostics, err := schema.BindSpec(spec, cached, schema.ValidationOptions{AllowDanglingReferences: true})
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)}
	if diagnostics.HasErrors() {
		return answer, nil
	}
	generated, err := generators[c.language].sdk(bound, req, cached)
	if err != nil {
		return nil, err
	}
	return answer, write(req.Directory, generated)
}

func (c *companion) GenerateProgram(
	_ context.Context, req *pulumirpc.GenerateProgramRequest,
) (*pulumirpc.GenerateProgramResponse, error) {
	loader, err := schema.NewLoaderClient(req.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	parser := hclsyntax.NewParser()
	for name, text := range req.Source {
		if err := parser.ParseFile(strings.NewReader(text), name); err != nil {
			return nil, err
		}
		if parser.Diagnostics.HasErrors() {
			return nil, parser.Diagnostics
		}
	}
	options := append(strictness(req.Strict), pcl.Loader(schema.NewCachedLoader(loader)), pcl.PreferOutputVersionedInvokes)
	program, diagnostics, err := pcl.BindProgram(parser.Files, options...)
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.GenerateProgramResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)}
	if diagnostics.HasErrors() {
		return answer, nil
	}
	source, more, err := generators[c.language].program(program)
	if err != nil {
		return nil, err
	}
	answer.Source = source
	answer.Diagnostics = append(answer.Diagnostics, plugin.HclDiagnosticsToRPCDiagnostics(more)...)
	return answer, nil
}

func (c *companion) GenerateProject(
	_ context.Context, req *pulumirpc.GenerateProjectRequest,
) (*pulumirpc.GenerateProjectResponse, error) {
	loader, err := schema.NewLoaderClient(req.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	cached := schema.NewCachedLoader(loader)
	program, diagnostics, err := pcl.BindDirectory(req.SourceDirectory, cached, strictness(req.Strict)...)
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.GenerateProjectResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)}
	if diagnostics.HasErrors() {
		return answer, nil
	}
	var project workspace.Project
	if err := json.Unmarshal([]byte(req.Project), &project); err != nil {
		return nil, err
	}
	return answer, generators[c.language].project(req.TargetDirectory, project, program, req.LocalDependencies)
}

func strictness(strict bool) []pcl.BindOption {
	if strict {
		return nil
	}
	return pcl.NonStrictBindOptions()
}

func write(folder string, generated files) error {
	for name, text := range generated {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return fmt.Errorf("cannot write what was generated: %w", err)
		}
	}
	return nil
}
