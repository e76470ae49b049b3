# Node is named by exact release; distroless has moving tags only. The commit of a release names both by digest, as docs/operations/install.md says.

# On the processor that builds, whatever the image is for: the program is the same on all but for one binary.
FROM --platform=$BUILDPLATFORM node:26.10.0-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY dev/node/package.json dev/node/
RUN npm ci --ignore-scripts
COPY dev/build dev/build
COPY web web
COPY src src
# What /version and --version tell. The date is the commit's, so that two builds of one commit are equal.
ARG GIT_COMMIT=unknown
ARG GIT_TREE_STATE=unknown
ARG BUILD_DATE=1970-01-01T00:00:00Z
# The processor that runs the image; the builder sets it.
ARG TARGETARCH
RUN npm run build -- --arch "$TARGETARCH" \
 && printf '{"gitCommit":"%s","gitTreeState":"%s","buildDate":"%s"}\n' "$GIT_COMMIT" "$GIT_TREE_STATE" "$BUILD_DATE" > build.json

FROM gcr.io/distroless/nodejs26-debian13:nonroot
WORKDIR /app
COPY --from=build /build/dist dist
COPY api api
COPY --from=build /build/build.json ./
COPY package.json LICENSE ./
ENV NODE_ENV=production
# A number, so that a kubelet can see that it is not root.
USER 65532:65532
EXPOSE 9090 9091
# Stacks name lines of the sources.
ENTRYPOINT ["/nodejs/bin/node", "--enable-source-maps", "/app/dist/main.js"]
