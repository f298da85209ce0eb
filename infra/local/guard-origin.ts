import type { IncomingMessage } from 'node:http'
import { guardSite } from '../../shared/api/guard-site.ts'

/** Refuses a request that a web page of another site makes, or under another name (guard-site.ts has the rule). */
export function guardOrigin({ headers, socket, url = '/' }: IncomingMessage): void {
  guardSite({ port: socket.localPort ?? 0, host: headers.host, origin: headers.origin, ...askedBy(headers, url) })
}

function askedBy(headers: IncomingMessage['headers'], url: string) {
  return { site: headers['sec-fetch-site'], path: url.split('?')[0] ?? '/' }
}
