FROM node:24.21.0-slim
WORKDIR /srv/porter
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --loglevel=error && npm cache clean --force
COPY migrations migrations
COPY docs docs
COPY src src
COPY packages/sdk/src packages/sdk/src
COPY packages/console packages/console
COPY porter ./
RUN npm run prepare
# PostgreSQL refuses to run as root, and so should the service.
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production PORTER_HOST=0.0.0.0 PORTER_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# On the port and with the protocol that are configured. The certificate is for the service's name, not for this address.
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "const { PORTER_PORT, PORTER_TLS_CERT } = process.env; require(PORTER_TLS_CERT ? 'https' : 'http').get({ host: '127.0.0.1', port: PORTER_PORT || 8080, path: '/healthz', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "src/service/main.ts"]
