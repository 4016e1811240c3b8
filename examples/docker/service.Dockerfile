# The embedded service, from what `npm run release` writes:
#   docker build --file examples/docker/service.Dockerfile --tag consortium-service release
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
COPY npm/consortium-service-*.tgz /tmp/
RUN npm install --global --omit=dev /tmp/consortium-service-*.tgz \
 && rm -rf /tmp/consortium-service-*.tgz /root/.npm \
 && install --directory --owner=node --group=node --mode=700 /data
USER 1000:1000
VOLUME /data
EXPOSE 4280
HEALTHCHECK --start-period=30s --interval=10s --timeout=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4280/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["consortium-service", "--host", "0.0.0.0", "--data", "/data", "--no-console"]
