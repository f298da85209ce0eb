import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../../shared/errors.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { readAnswerOutputs } from '../../shared/runs/block-outputs.ts'
import {
  type Asked,
  type Behaviour,
  endless,
  hang,
  json,
  type ProviderServer,
  pieces,
  raw,
  reset,
} from '../emulators/provider-server.ts'
import { firstDaily } from '../how-much.ts'

export const SUITE_KEY = 'sk-canary/7f3a"quoted\\9d21'
/** However busy the machine is, its server answers sooner; and no time-out does the work of an abort. */
const PATIENT_MS = 60_000
/** Where the server falls silent. */
const HASTY_MS = 2_000
/** Failures that last as long as the provider's time. */
const WAITS = /silence|drip/

/** Opens a provider that waits for its server no longer than this. */
type OpenProvider = (timeout_ms: number) => Promise<OpenedProvider>

/** A provider and, for those that talk to a server, that server. */
export interface OpenedProvider {
  readonly provider: Provider
  readonly server?: Pick<ProviderServer, 'next' | 'hungUp' | 'asked'>
  close(): Promise<void>
}

/** Every model of the suite answers what fits the ports it is asked for; the server's key is SUITE_KEY. */
export const ANSWER = { title: 'Grüße 🌊', steps: 3 }

/** Where a provider's wire differs from JSON over HTTP with a bearer's key. */
export interface Wire {
  /** It has no server. */
  readonly offline?: boolean
  readonly failures?: readonly Failure[]
  /** Where the key of the attempt stands. */
  readonly attemptKey?: (asked: Asked) => unknown
  /** It is sent no key of ours. */
  readonly keyless?: boolean
  /** Where its key stands, as it was sent; absent = as a bearer. */
  readonly keyHeader?: string
}

/** A behaviour of the server, and the name and code of the failure it is. */
export type Failure = readonly [what: string, how: Behaviour, name: string, code: string]

/**
 * What every provider promises (Provider in shared/providers/provider.ts). A new adapter is admitted by one call of this. Its
 * server answers `ANSWER` as an object when an object is asked for, else its title.
 */
export function providerSuite(name: string, open: OpenProvider, wire: Wire = {}): void {
  const { offline = false, failures = FAILURES, keyless = false, keyHeader = 'authorization' } = wire
  const attemptKey = wire.attemptKey ?? (({ headers }: Asked) => headers['idempotency-key'])
  describe(`provider: ${name}`, () => {
    let opened: OpenedProvider
    beforeEach(async () => {
      opened = await open(PATIENT_MS)
    })
    afterEach(() => opened.close())
    const ask = (more: Partial<DispatchRequest> = {}) => opened.provider.dispatch({ ...SUITE_REQUEST, ...more })
    const fault = () => faultOf(opened)

    test('answers a text with whole counts, a model and a finish reason', async () => {
      const answer = await ask()
      expect(answer.text.trim()).not.toBe('')
      expect(readAnswerOutputs(answer.text, TEXT).problems).toEqual([])
      expectMeasured(answer)
    })

    test('answers an object that keeps the output contract when several ports are asked for', async () => {
      const { text } = await ask({ output_schema: PORTS })
      const { values, problems } = readAnswerOutputs(text, PORTS)
      expect(problems).toEqual([])
      expect(Object.keys(values).sort()).toEqual(['steps', 'title'])
    })

    test('throws the reason of a signal that is aborted already', async () => {
      const reason = new Error('stopped by ana')
      await expect(ask({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      expect(opened.server?.asked ?? []).toEqual([])
    })

    test('serves many at once', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask()))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    })

    if (offline) return
    describe('over the wire', () => {
      const serverOf = () => {
        if (opened.server === undefined) throw new Error('it is said to have a server')
        return opened.server
      }

      test('sends the key of the attempt', async () => {
        await ask()
        expect(serverOf().asked.map(attemptKey)).toEqual(['run_1/0/0/1/0'])
      })

      test('hangs up on an abort, and throws its reason', async () => {
        const server = serverOf()
        server.next(hang)
        const reason = new Error('stopped')
        const stop = new AbortController()
        const asked = ask({ signal: stop.signal })
        await expect.poll(() => server.asked.length, { interval: 5 }).toBe(1)
        stop.abort(reason)
        await expect(asked).rejects.toBe(reason)
        await expect.poll(() => server.hungUp.length, { interval: 5 }).toBe(1)
      })

      const quick = failures.filter(([what]) => !WAITS.test(what))
      test.each(quick)('%s is its own typed failure', (_, ...failure) => expectFailure(opened, failure))

      test.each(RETRY_AFTER)('a Retry-After in %s is told', async (_, headers, expected) => {
        for (const status of [429, 503]) {
          serverOf().next(json(status, {}, headers))
          expect((await fault()).facts.retry_after_ms).toBe(expected)
        }
      })

      test.skipIf(keyless)('tells no key, whatever the server sends back', async () => {
        const echo: Behaviour = (response, asked) =>
          json(400, { error: { message: `bad: ${asked.headers[keyHeader]}` } })(response, asked)
        const told: string[] = []
        for (const how of [
          echo,
          json(401, { error: `wrong key ${SUITE_KEY.slice(0, 12)}****` }),
          reset,
          raw(200, `"${SUITE_KEY}"`),
        ]) {
          serverOf().next(how)
          const failed = await fault()
          told.push([failed.message, failed.stack, JSON.stringify(failed.facts), String(failed.cause)].join(' '))
        }
        expect(told).toHaveLength(4)
        expect(told.filter((text) => text.includes('canary'))).toEqual([])
        const sent = serverOf().asked[0]?.headers[keyHeader]
        expect(sent).toBe(wire.keyHeader === undefined ? `Bearer ${SUITE_KEY}` : SUITE_KEY)
      })
    })
  })
}

/** Time limits that are really waited for, of many providers side by side: one a provider each day. */
export function silenceSuite(providers: readonly (readonly [string, OpenProvider, failures?: readonly Failure[]])[]) {
  const all = providers.map(([name, open, failures = FAILURES]) =>
    failures.filter(([what]) => WAITS.test(what)).map(([what, ...failure]) => ({ name, what, open, failure })),
  )
  const [first = [], others = []] = [all.map((rows) => rows.slice(0, 1)), all.map((rows) => rows.slice(1))].map(
    (rows) => rows.flat(),
  )
  describe.concurrent('a provider whose server falls silent', () => {
    for (const { tags, rows } of firstDaily(providers.length, [...first, ...others]))
      test.for(rows)('$name: $what is its own typed failure', { tags }, async ({ open, failure }) => {
        const opened = await open(HASTY_MS)
        await expectFailure(opened, failure)
        await opened.close()
      })
  })
}

async function expectFailure(
  opened: OpenedProvider,
  [how, kind, code]: readonly [how: Behaviour, name: string, code: string],
): Promise<void> {
  opened.server?.next(how)
  const failed = await faultOf(opened)
  expect([failed.name, failed.code, failed.facts.provider]).toEqual([kind, code, 'suite'])
  // Retries belong to the block.
  expect(opened.server?.asked).toHaveLength(1)
}

async function faultOf({ provider }: OpenedProvider): Promise<Fault> {
  const thrown = await provider.dispatch(SUITE_REQUEST).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(Fault)
  return thrown as Fault
}

const FAILURES: readonly Failure[] = [
  ['429', json(429, { error: { message: 'slow down' } }), 'Unavailable', 'provider_throttled'],
  ['500', json(500, { error: 'boom' }), 'Unavailable', 'provider_unavailable'],
  ['503', raw(503, '<html>busy</html>'), 'Unavailable', 'provider_unavailable'],
  ['529', json(529, {}), 'Unavailable', 'provider_unavailable'],
  ['504', raw(504, ''), 'Unavailable', 'provider_timeout'],
  ['408', raw(408, ''), 'Unavailable', 'provider_timeout'],
  ['a reset connection', reset, 'Unavailable', 'provider_unavailable'],
  ['silence', hang, 'Unavailable', 'provider_timeout'],
  [
    'a slow drip',
    pieces('application/json', `"${'x'.repeat(2_000)}"`, { bytes: 1, ms: 5 }),
    'Unavailable',
    'provider_timeout',
  ],
  ['404', json(404, { error: { message: 'no such model' } }), 'Rejected', 'provider_refused'],
  ['403', json(403, {}), 'Rejected', 'provider_refused'],
  ['413', json(413, { detail: 'too long' }), 'Rejected', 'provider_refused'],
  ['a redirect', raw(307, '', { location: 'http://127.0.0.1:1/' }), 'InvalidInput', 'provider_invalid'],
  ['a text that is no JSON', raw(200, 'Hello!'), 'InvalidInput', 'provider_invalid'],
  ['half a JSON', raw(200, '{"text": "a'), 'InvalidInput', 'provider_invalid'],
  ['a list', raw(200, '[1,2]\n'), 'InvalidInput', 'provider_invalid'],
  ['an empty answer', raw(200, '{}'), 'InvalidInput', 'provider_invalid'],
  ['more than 8 MiB', endless, 'InvalidInput', 'provider_invalid'],
]

const NOON = 'Wed, 21 Oct 2015 12:00:00 GMT'
const LATER = 'Wed, 21 Oct 2015 12:00:30 GMT'
const RETRY_AFTER: readonly (readonly [
  form: string,
  headers: Readonly<Record<string, string>>,
  ms: number | undefined,
])[] = [
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a date, read against the clock of the server', { 'retry-after': LATER, date: NOON }, 30_000],
  ['milliseconds', { 'retry-after': '9', 'retry-after-ms': '120' }, 120],
  ['a date that is past', { 'retry-after': NOON, date: LATER }, undefined],
  ['nonsense', { 'retry-after': 'soon' }, undefined],
]

const TEXT = { text: { type: 'string', required: true } } as const
const PORTS = { title: { type: 'string', required: true }, steps: { type: 'number', required: true } } as const

/** What is asked where a test does not say otherwise. */
export const SUITE_REQUEST: DispatchRequest = {
  system: 'Be brief.',
  prompt: 'Plan 3 steps for the garden.',
  model: 'm-1',
  params: { temperature: 0 },
  inputs: { goal: 'garden', steps: 3 },
  output_schema: TEXT,
  feedback: [],
  signal: new AbortController().signal,
  idempotency_key: 'run_1/0/0/1/0',
}

function expectMeasured({ tokens_in, tokens_out, usd, model, finish_reason }: DispatchAnswer): void {
  for (const count of [tokens_in, tokens_out]) expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
  expect(usd === undefined || usd >= 0).toBe(true)
  expect([model, finish_reason].every((text) => text !== '')).toBe(true)
}
