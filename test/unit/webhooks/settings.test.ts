import { describe, expect, test } from 'vitest'
import { parseSettings } from '../../../shared/settings/parse.ts'
import {
  endpointEntries,
  isEndpointDue,
  nextEndpointEntry,
  toldEndpoints,
} from '../../../shared/webhooks/endpoint-deliveries.ts'

const ENDPOINT = { name: 'billing', url: 'https://example.com/hook', events: ['run:completed'], key: { env: 'HOOK' } }
const parse = (...webhooks: readonly object[]) => parseSettings(JSON.stringify({ webhooks }), 'sluice.yaml')
const problem = (...webhooks: readonly object[]) => {
  try {
    parse(...webhooks)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was taken')
}

describe('webhooks in sluice.yaml', () => {
  test('take a name, a URL, events and a key; the rest has defaults', () => {
    expect(parse(ENDPOINT).webhooks).toEqual([{ ...ENDPOINT, tenant: 'main', timeout_ms: 10_000, give_up_sec: 86_400 }])
    expect(parseSettings('', 'sluice.yaml').webhooks).toEqual([])
  })

  test.each(['http://127.0.0.1:9000/x', 'http://localhost:9000', 'http://[::1]/', 'https://example.com?x=1'])(
    '%s may be told',
    (url) => expect(parse({ ...ENDPOINT, url }).webhooks[0]?.url).toBe(url),
  )

  test.each<[string, object, RegExp]>([
    ['http to another machine', { url: 'http://example.com/' }, /webhooks\.0\.url: https, or http on 127\.0\.0\.1/],
    ['a host that only begins so', { url: 'http://127.0.0.1.example.com/' }, /https, or http on/],
    ['a user in the URL', { url: 'https://a:b@example.com/' }, /without user and password/],
    ['an event there is none of', { events: ['run:done'] }, /webhooks\.0\.events/],
    ['no event', { events: [] }, /webhooks\.0\.events/],
    ['a name that may not be part of an id', { name: 'A b' }, /webhooks\.0\.name/],
    ['a key written down', { key: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, /webhooks\.0\.key/],
    ['three keys', { key: [{ env: 'A' }, { env: 'B' }, { env: 'C' }] }, /webhooks\.0\.key/],
    ['a patience past what an API has', { timeout_ms: 20_001 }, /webhooks\.0\.timeout_ms/],
    ['an unknown key', { secret: 'x' }, /webhooks\.0/],
  ])('%s is refused, and nothing that may be a secret is told', (_what, change, words) => {
    const message = problem({ ...ENDPOINT, ...change })
    expect(message).toMatch(words)
    expect(message).not.toMatch(/MfKQ9|a:b@/)
  })

  test('two of one name, and eleven, are refused', () => {
    expect(problem(ENDPOINT, ENDPOINT)).toContain('two endpoints have one name')
    expect(problem(...Array.from({ length: 11 }, (_, i) => ({ ...ENDPOINT, name: `n${i}` })))).toContain('webhooks')
  })
})

describe('buses in sluice.yaml', () => {
  const read = (...buses: readonly object[]) =>
    parseSettings(JSON.stringify({ webhooks: [ENDPOINT], buses }), 'sluice.yaml')
  const BUS = { name: 'company', events: ['run:completed'] }

  test('take a name, events and a bus by name or ARN; the rest has defaults', () => {
    const rest = { ...BUS, tenant: 'main', give_up_sec: 86_400 }
    expect(read(BUS).buses).toEqual([{ ...rest, bus: 'default' }])
    const bus = 'arn:aws:events:eu-central-1:111122223333:event-bus/company'
    expect(read({ ...BUS, bus }).buses).toEqual([{ ...rest, bus }])
    expect(
      endpointEntries(toldEndpoints(read(BUS)), { tenant: 'main', dag_name: 'x', created_at: 'now' }),
    ).toMatchObject([{ endpoint: 'billing' }, { endpoint: 'company' }])
  })

  test.each<[string, readonly object[], RegExp]>([
    [
      'a rule for a bus',
      [{ ...BUS, bus: 'arn:aws:events:eu-central-1:111122223333:rule/x' }],
      /buses\.0\.bus: the name of a bus .*whole ARN/,
    ],
    ['a name that a webhook has', [{ ...BUS, name: 'billing' }], /buses\.0\.name: a webhook has this name too/],
    ['two of one name', [BUS, BUS], /two buses have one name/],
    ['an event there is none of', [{ ...BUS, events: ['run:done'] }], /buses\.0\.events/],
    [
      'a tenant there is none of',
      [{ ...BUS, tenant: 'acme' }],
      /buses\.0\.tenant: "acme" is not in the list of tenants/,
    ],
    ['a URL', [{ ...BUS, url: 'https://example.com' }], /buses\.0/],
    [
      'ten beside a webhook',
      Array.from({ length: 10 }, (_, i) => ({ ...BUS, name: `b${i}` })),
      /with webhooks there are 11; allowed: 10 together/,
    ],
  ])('%s is refused', (_what, buses, words) => expect(() => read(...buses)).toThrow(words))
})

describe('the entry of an endpoint', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const { webhooks } = parse(ENDPOINT, { ...ENDPOINT, name: 'briefs', dags: ['brief'] })
  const run = (dag_name: string, tenant = 'main') => ({ tenant, dag_name, created_at: at })
  const [entry] = endpointEntries(webhooks, run('other'))

  test('is owed by every run, or by those of its DAGs', () => {
    expect(endpointEntries(webhooks, run('brief')).map(({ id }) => id)).toEqual(['endpoint-billing', 'endpoint-briefs'])
    expect(entry).toEqual({ id: 'endpoint-billing', at, kind: 'endpoint', endpoint: 'billing', from_seq: 1 })
  })

  test('is owed by runs of its own tenant alone', () => {
    const [first, ...others] = webhooks
    const two = [{ ...(first as (typeof webhooks)[number]), tenant: 'acme' }, ...others]
    expect(endpointEntries(two, run('brief', 'acme')).map(({ id }) => id)).toEqual(['endpoint-billing'])
    expect(endpointEntries(two, run('brief')).map(({ id }) => id)).toEqual(['endpoint-briefs'])
    expect(endpointEntries(two, run('brief', 'globex'))).toEqual([])
  })

  test('is due when there are events, or the run is over, and not within a pause', () => {
    if (entry === undefined) throw new Error('there is none')
    const told = { ...entry, from_seq: 5 }
    expect(isEndpointDue({ state: 'running', seq: 4 }, told, 0)).toBe(false)
    expect(isEndpointDue({ state: 'running', seq: 5 }, told, 0)).toBe(true)
    expect(isEndpointDue({ state: 'failed', seq: 4 }, told, 0)).toBe(true)
    expect(isEndpointDue({ state: 'failed', seq: 9 }, { ...told, due_at: at }, Date.parse(at) - 1)).toBe(false)
    expect(isEndpointDue({ state: 'failed', seq: 9 }, { ...told, due_at: at }, Date.parse(at))).toBe(true)
  })

  test('goes on after what is told, forgets tries, and leaves with the end of the run alone', () => {
    if (entry === undefined) throw new Error('there is none')
    const tried = { ...entry, tries: 3, due_at: at, failing_since: at }
    expect(nextEndpointEntry({ state: 'running', seq: 9 }, tried, 9)).toEqual({ ...entry, from_seq: 10 })
    expect(nextEndpointEntry({ state: 'failed', seq: 9 }, tried, 8, at)).toEqual({
      ...entry,
      from_seq: 9,
      failing_since: at,
    })
    expect(nextEndpointEntry({ state: 'failed', seq: 9 }, tried, 9)).toBeUndefined()
  })
})
