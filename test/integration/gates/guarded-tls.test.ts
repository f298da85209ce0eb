import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { askHere } from './guarded-servers.ts'

/** A certificate for localhost that nobody signed, made for this test; its key opens nothing else. Until the year 2126. */
const KEY = pem('PRIVATE KEY', [
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZsXkD/mCjLMimUpYRuujJ3k2rYsnUoMKvnp//vGLKjahRANCAARF',
  '5fGid2JRGqNJFwvQcnqmPeAfFUhOxuZtWQbezKu4Zv7XWwNXb/qenVABgFtQDnnJRTiwXlmiFyPW8e3Bf8LE',
])
const CERTIFICATE = pem('CERTIFICATE', [
  'MIIBmzCCAUGgAwIBAgIUetZIKzaYfOTU24T3pQb/AKYyNBUwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2',
  'MTEyMjAzMjYxMFoYDzIxMjYxMDI5MDMyNjEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC',
  'AARF5fGid2JRGqNJFwvQcnqmPeAfFUhOxuZtWQbezKu4Zv7XWwNXb/qenVABgFtQDnnJRTiwXlmiFyPW8e3Bf8LEo28wbTAdBgNV',
  'HQ4EFgQUsoeML/YDUQYrmsGFH1SZXzqEVdMwHwYDVR0jBBgwFoAUsoeML/YDUQYrmsGFH1SZXzqEVdMwDwYDVR0TAQH/BAUwAwEB',
  '/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZIzj0EAwIDSAAwRQIhANSUMzgJFiFQUleVuj/gg4u0X+3X0npKWnC9',
  'pTrQJRUaAiBlGALCXQ+D6s129pd4vrKbIeCq75Ti1bUroifXrrjjdg==',
])

const trusted = getCACertificates('default')
afterEach(() => setDefaultCACertificates(trusted))

test('a certificate nobody vouches for is refused before a request is sent', async () => {
  const server = await serveTls((_, response) => response.end('hello'))
  const answer = await askHere([server], `https://localhost:${server.port}/`)
  expect(answer).toEqual({ kind: 'failed', reason: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT') })
  expect(server.asked).toEqual([])
  await server.close()
})

test('a trusted one is asked by its name, and no redirect leads from https to http', async () => {
  setDefaultCACertificates([...trusted, CERTIFICATE])
  const server = await serveTls((request, response) => {
    if (request.url === '/') response.end('hello')
    else response.writeHead(302, { location: `http://localhost:${server.port}/` }).end()
  })
  const url = `https://localhost:${server.port}/`
  expect(await askHere([server], url)).toEqual({ kind: 'answered', status: 200, url, body: 'hello' })
  expect(await askHere([server], `${url}down`)).toEqual({ kind: 'refused', reason: 'a redirect from https to http' })
  // The name the certificate is for is the one that was asked for, whatever its address.
  const other = await askHere([server], `https://other.example:${server.port}/`, { resolve: async () => ['127.0.0.1'] })
  expect(other).toEqual({ kind: 'failed', reason: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID') })
  expect(server.asked).toEqual(['/', '/down'])
  await server.close()
})

async function serveTls(listener: RequestListener) {
  const asked: (string | undefined)[] = []
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    asked.push(request.url)
    listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { port: (server.address() as AddressInfo).port, asked, close }
}

function pem(kind: string, base64: readonly string[]): string {
  return `-----BEGIN ${kind}-----\n${base64.join('\n')}\n-----END ${kind}-----\n`
}
