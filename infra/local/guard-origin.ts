import type { IncomingMessage } from 'node:http'
import { guardSite } from '../../shared/api/guard-site.ts'

/** Refuses a request that a web page of another site makes, or under another name (guard-site.ts has the rule). */
export function guardOrigin({ headers, socket }: IncomingMessage): void {
  guardSite({ port: socket.localPort ?? 0, host: headers.host, origin: headers.origin })
}
