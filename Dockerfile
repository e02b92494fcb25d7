# A static binary, run by nobody in an image without a shell. It needs a Redis: REDIS_URL;
# compose.yaml has one.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /dashboard ./cmd/dashboard

# Holds the time zones and the certificates of the usual authorities.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /dashboard /dashboard
EXPOSE 8080
USER nonroot:nonroot
ENTRYPOINT ["/dashboard"]
CMD ["serve"]
