import { type Asked, json, type ProviderServer, serveProvider } from './provider-server.ts'

/** A server of one's own, as docs/providers.md describes it: answers what the function makes of the request. */
export function startHttpProvider(
  reply: (asked: Asked) => Readonly<Record<string, unknown>>,
  key?: string,
): Promise<ProviderServer> {
  return serveProvider((response, asked) => json(200, reply(asked))(response, asked), key)
}
