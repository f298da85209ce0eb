import { afterAll, beforeAll, expect, test, vi } from 'vitest'

/** A drawn element, as preact makes it. */
interface Drawn {
  readonly props: { readonly children?: unknown }
}
type Component = (props: Readonly<Record<string, unknown>>) => Drawn | null

/** The page's own modules know an address; what is typed for browsers is loaded by name. */
let notices: { readonly Empty: Component; readonly DamagedNotice: Component }
let heading: { readonly AskedHeading: Component }
let dialog: { readonly DecisionSubject: Component }
let record: { readonly TokenTable: Component }
let health: { readonly problem: { value: unknown } }
const load = (path: string) => import(new URL(`../../../clients/console/${path}`, import.meta.url).href)
beforeAll(async () => {
  vi.stubGlobal('location', { origin: 'http://127.0.0.1:1', hash: '' })
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('document', { addEventListener: () => undefined, hidden: true, visibilityState: 'hidden' })
  // A server that has not answered yet: nothing is known to be wrong.
  vi.stubGlobal('fetch', () => new Promise(() => undefined))
  vi.useFakeTimers()
  notices = await load('parts/notice.tsx')
  heading = await load('approvals/question.tsx')
  dialog = await load('approvals/question.tsx')
  record = await load('safety/tokens-table.tsx')
  health = (await load('place-state.ts')).health
})
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Every text of an element, in order; of the parts made of others only what changed is drawn. */
function wordsOf(drawn: unknown): string {
  if (typeof drawn === 'string' || typeof drawn === 'number') return String(drawn)
  if (Array.isArray(drawn)) return drawn.map(wordsOf).join('')
  const { type, props } = (drawn ?? {}) as { readonly type?: Component; readonly props?: object }
  if (type?.name === 'RunChangesNotice') return wordsOf(type({ ...props }))
  return typeof drawn === 'object' && drawn !== null && 'props' in drawn ? wordsOf((drawn as Drawn).props.children) : ''
}

test('an empty inbox says so only where the server was heard', () => {
  const empty = (problem?: Error) => wordsOf(notices.Empty({ children: 'Nobody is asked anything.', problem }))
  expect(empty()).toBe('Nobody is asked anything.')
  expect(empty(new Error('the server does not answer'))).toMatch(/^Not known: the server did not answer/)
  health.problem.value = new Error('away')
  expect(empty()).toMatch(/^Not known/)
  health.problem.value = undefined
  expect(empty()).toBe('Nobody is asked anything.')
})

test('what is damaged is named with its run and what to do, and nothing is said where nothing is', () => {
  expect(notices.DamagedNotice({ damaged: [] })).toBeNull()
  const one = { run_id: 'run_1', item: 'META', seen: 'no JSON', fix: 'Restore the store.' }
  const words = wordsOf(notices.DamagedNotice({ damaged: [one, { ...one, run_id: 'run_2', approval_id: 'apr_2' }] }))
  expect(words).toContain('Run run_1: its META is damaged (no JSON). Restore the store.')
  expect(words).toContain('A question of run run_2: its META is damaged')
})

test('what is not as deployed stands before the question, and once more where it is decided', () => {
  const approval = {
    prompt: 'Go on?',
    block_id: 'act',
    dag_name: 'release',
    run_id: 'run_00000000000000000000000000',
    status: 'pending',
    risk: { level: 'low', because: [] },
    shown_refs: {},
    digest: 'd',
    changes: { overrides: [{ port: 'act.target', value: '"production"', sha256: 'a'.repeat(64) }] },
  }
  const before = /^Not a plain start of the deployed documentOverride: act\.target = "production"[\s\S]*Go on\?/
  expect(wordsOf(heading.AskedHeading({ approval }))).toMatch(before)
  expect(wordsOf(dialog.DecisionSubject({ approval, changes: [] }))).toMatch(before)
  const { changes: _, ...plain } = approval
  expect(wordsOf(heading.AskedHeading({ approval: plain }))).toMatch(/^Go on\?/)
})

test('of each token the record says who made and who revoked it, and which person that was', () => {
  const made = { created_at: '2026-01-01T00:00:00.000Z', created_by: 'iam:Admin', created_person: 'user:ana' }
  const token = { token_id: '0123', name: 'ci', scopes: ['runs:read', 'runs:start'], state: 'valid', person: 'user:bo' }
  const revoked = { state: 'revoked', revoked_at: '2026-01-02T00:00:00.000Z', revoked_by: 'token:9' }
  const ends = { expires_at: '2026-02-01T00:00:00.000Z' }
  const tokens = [
    { ...token, ...made, ...ends },
    { ...token, ...made, ...ends, ...revoked, name: 'old' },
  ]
  const words = wordsOf(record.TokenTable({ tokens }))
  expect(words).toContain('ci 0123 of user:boruns:read, runs:start')
  expect(words).toContain('by iam:Admin (user:ana)')
  expect(words.match(/by token:9/g)).toHaveLength(1)
})
