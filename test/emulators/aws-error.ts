import { once } from 'node:events'
import { createServer } from 'node:http'
import { emulatedAws } from './aws-client.ts'

/** An S3 that answers every request with one error, as XML with names in its text that must not travel on. */
export async function startAwsError(status: number, code: string) {
  const server = createServer((request, response) => {
    request.resume()
    const text = 'arn:aws:iam::123456789012:role/secret is not authorized on arn:aws:s3:::secret-bucket'
    response.writeHead(status, { 'content-type': 'application/xml' })
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${text}</Message></Error>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    config: emulatedAws(`http://127.0.0.1:${port}`),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
