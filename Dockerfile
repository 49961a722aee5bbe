# The gateway as one image: the package that `npm pack` makes, on a plain Node, without a shell user's rights.
FROM node:24-slim AS package
WORKDIR /source
COPY . .
RUN npm install --no-audit --no-fund && npm pack --pack-destination /package

FROM node:24-alpine
ENV NODE_ENV=production HOST=:: PORT=8787 GATEWAY_DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/compiled
WORKDIR /gateway
COPY --from=package /package/*.tgz /tmp/gateway.tgz
# The package itself holds everything but the embedded database, its only dependency.
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund /tmp/gateway.tgz \
  && npm cache clean --force && rm -rf /tmp/gateway.tgz /root/.npm \
  && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD wget -q -O /dev/null http://127.0.0.1:8787/health/liveliness
CMD ["node", "--max-semi-space-size=32", "node_modules/model-gateway/dist/model-gateway.mjs"]
