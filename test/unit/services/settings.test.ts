import { describe, expect, test } from 'vitest'
import { bindAgents } from '../../../shared/document/bind-agents.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { openServices } from '../../../shared/services/service-keys.ts'
import { isBelowService, serviceBase } from '../../../shared/services/settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

const parse = (service: object, name = 'crm') =>
  parseSettings(JSON.stringify({ services: { [name]: service } }), 'sluice.yaml').services

describe('services in sluice.yaml', () => {
  test('have what the operator says, and defaults', () => {
    expect(parse({ url: 'https://crm.example/api' })).toEqual({
      crm: { url: 'https://crm.example/api', timeout_ms: 30_000, private: false },
    })
    const own = { url: 'http://127.0.0.1:9000/', private: true, key: { env: 'K' }, header: 'X-Api-Key', timeout_ms: 5 }
    expect(parse(own)).toEqual({ crm: own })
  })

  test.each([
    [{ url: 'http://crm.example' }, /services\.crm\.url: https, or http with private: true/],
    [{ url: 'https://crm.example/?a=b' }, /a URL without \?/],
    [{ url: 'https://u:hidden-word@crm.example/' }, /a URL without user and password/],
    [{ url: 'ftp://crm.example/' }, /an http or https URL/],
    [{}, /services\.crm\.url: is missing/],
    [{ url: 'https://crm.example', key: 'hidden-word' }, /services\.crm\.key/],
    [
      { url: 'https://crm.example', header: 'X-Key' },
      /services\.crm\.header: the header of a key, but there is no key/,
    ],
    [
      { url: 'https://crm.example', key: { env: 'K' }, header: 'Host' },
      /services\.crm\.header: the name of a header: "Host" is written by Sluice/,
    ],
    [{ url: 'https://crm.example', key: { env: 'K' }, header: 'a b' }, /services\.crm\.header: the name of a header/],
    [{ url: 'https://crm.example', timeout_ms: 30_001 }, /services\.crm\.timeout_ms/],
    [{ url: 'https://crm.example', retries: 3 }, /Unknown key "retries"/],
  ])('%j is refused with its place, and no secret is told', (service, words) => {
    expect(() => parse(service)).toThrow(words)
    expect(() => parse(service)).not.toThrow(/hidden-word/)
  })

  test('a name is a name', () => {
    expect(() => parse({ url: 'https://crm.example' }, 'c r m')).toThrow(/a letter, then letters, digits/)
  })
})

test.each([
  ['https://a.example/api', 'https://a.example/api/x', true],
  ['https://a.example/api', 'https://a.example/api', true],
  ['https://a.example/api', 'https://a.example/api?q=1', true],
  ['https://a.example/api/', 'https://a.example/api/x', true],
  ['https://a.example', 'https://a.example/x', true],
  ['https://a.example/api', 'https://a.example/apix', false],
  ['https://a.example/api', 'https://a.example/api/../x', false],
  ['https://a.example/api', 'https://a.example/api/%2e%2E/x', false],
  ['https://a.example/api', 'https://a.example:8443/api/x', false],
  ['https://a.example/api', 'http://a.example/api/x', false],
  ['https://a.example/api', 'https://b.example/api/x', false],
  ['https://a.example/api', 'https://u:p@a.example/api/x', false],
  ['https://a.example/api', 'nonsense', false],
])('below %s: %s %s', (url, asked, below) => {
  expect(isBelowService({ url }, asked)).toBe(below)
  expect(serviceBase({ url })).not.toMatch(/\/$/)
})

describe('the key of a service', () => {
  const services = parse({ url: 'https://crm.example', key: { env: 'K' } })

  test('is a bearer, or the bare value of its own header', async () => {
    const bearer = await openServices(services, async () => 'abc \n').key('crm')
    expect(bearer).toEqual({ header: 'authorization', value: 'Bearer abc', secret: 'abc' })
    const own = parse({ url: 'https://crm.example', key: { env: 'K' }, header: 'X-Api-Key' })
    expect(await openServices(own, async () => 'abc').key('crm')).toMatchObject({ header: 'x-api-key', value: 'abc' })
    expect(await openServices(parse({ url: 'https://crm.example' }), async () => 'abc').key('crm')).toBe(undefined)
  })

  test.each([undefined, '', ' \n', 'a\nb', 'ü'])('%j is no key, and is not told', async (value) => {
    const asked = openServices(services, async () => value).key('crm')
    await expect(asked).rejects.toMatchObject({ name: 'InvalidInput', code: 'service_key_missing' })
    await expect(asked).rejects.toThrow(/services\.crm\.key\.env/)
  })
})

test('a kept result of another server is not taken for its own: where the service is, is part of what a block is', () => {
  const text =
    'blocks: [{ id: a, mode: deterministic, outputs: { body: json }, deterministic: { handler: http, config: { service: crm, path: /x } } }]'
  const parsed = parseDag(text)
  if (!parsed.ok) throw new Error('it is valid')
  const hashAt = (url: string) => {
    const bound = bindAgents(parsed.dag, { agents: {}, providers: {}, prices: {}, services: parse({ url }) })
    return bound.ok ? bound.dag.blocks[0]?.hash : undefined
  }
  expect(hashAt('https://a.example')).not.toBe(hashAt('https://b.example'))
  expect(hashAt('https://a.example')).toBe(hashAt('https://a.example/'))
  expect(hashAt('https://a.example')).not.toBe(parsed.dag.blocks[0]?.hash)
})
