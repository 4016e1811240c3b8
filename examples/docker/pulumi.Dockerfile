# Pulumi with the provider plugin, from what `npm run release` writes:
#   docker build --file examples/docker/pulumi.Dockerfile --tag pulumi-consortium release
# For programs in TypeScript: --build-arg IMAGE=pulumi/pulumi-nodejs-24:3.276.0
ARG IMAGE=pulumi/pulumi-base:3.276.0
FROM ${IMAGE}
# CI systems run containers with another HOME.
ENV PULUMI_HOME=/opt/pulumi-home
ARG TARGETARCH
COPY plugin/pulumi-resource-consortium-v*-linux-${TARGETARCH}.tar.gz /tmp/plugin/
RUN cd /tmp/plugin \
 && set -- *.tar.gz \
 && version="${1#*-v}" \
 && pulumi plugin install resource consortium "v${version%%-linux-*}" --file "$1" \
 && rm -r /tmp/plugin
ENTRYPOINT []
CMD ["pulumi"]
