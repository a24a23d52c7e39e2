FROM node:24-slim
WORKDIR /srv/porter
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --loglevel=error && npm cache clean --force
COPY migrations migrations
COPY docs docs
COPY src src
COPY packages/sdk/src packages/sdk/src
COPY porter ./
# PostgreSQL refuses to run as root, and so should the service.
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production PORTER_HOST=0.0.0.0 PORTER_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
