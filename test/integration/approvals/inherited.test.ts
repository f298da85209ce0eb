import { afterEach, describe, expect, test } from 'vitest'
import { readStoredRun } from '../../../functions/record/stored-run.ts'
import type { Scope } from '../../../shared/auth/scopes.ts'
import { checkRun } from '../../../shared/invariants/check-run.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { ACCURACY, contractOf, judgedDag, VERIFIED } from '../goals/goal-place.ts'
import { type ApprovalPlace, agent, openApprovalPlace } from './approval-place.ts'

/** What becomes of a decision in a run that goes on from another one (docs/approvals.md, "What a decision binds"). */
let open: ApprovalPlace
afterEach(() => open?.close())

const text = { text: { type: 'string' } }
const never = { name: 'never', check: { type: 'contains', port: 'text', values: ['never'] }, on_fail: 'fail' }
const target = { type: 'string', default: 'staging' }
const release = (approval: object = {}) => ({
  id: 'release',
  mode: 'approval',
  outputs: { decided_by: 'string' },
  approval: { prompt: 'Go?', ...approval },
})
/** Its action always fails: there is something to retry. */
const failing = (approval: object = {}) => ({
  blocks: [
    release(approval),
    { id: 'act', inputs: { target }, outputs: text, agent: agent('act on {{inputs.target}}'), post_gates: [never] },
  ],
  edges: [{ from: 'release', to: 'act' }],
})

async function decide(run: string, who: string, decision: 'approve' | 'reject' = 'approve', block = 'release') {
  const { approval_id, digest } = await open.asked(run, block)
  return open.decide(run, who, { decision, digest, approval_id, feedback: 'seen' })
}

/** Approves the only question of a run by all of these, and waits for its end. */
async function approved(document: object, ...people: readonly string[]): Promise<string> {
  const id = await open.start(document)
  for (const who of people) await decide(id, who)
  await open.ended(id)
  return id
}

async function retry(run: string, body: object = {}): Promise<string> {
  const { json } = await open.call('retry-run', run, body)
  return String((json as unknown as { readonly run_id: string }).run_id)
}

/** Whether a run that has ended asked anybody. */
async function askedIn(run: string): Promise<boolean> {
  return (await open.ended(run)).some(({ type }) => type === 'approval:requested')
}

/** What verify says of actions and approvals if an event of the run said something else. */
async function unapproved(run_id: string, seq: number, over: object) {
  const key = { tenant: 'main', run_id }
  const meta = await open.place.world.runs.meta(key)
  if (meta === undefined) throw new Error('no META')
  const { stored } = await readStoredRun(open.place.world, key, meta)
  const events = stored.events.map((event) =>
    event.seq === seq ? { ...event, data: { ...event.data, ...over } } : event,
  )
  const checks = await checkRun({ ...stored, events: events as typeof stored.events })
  return checks.find(({ n }) => n === 39)?.problems
}

async function mint(id: string, scopes: readonly Scope[] = ['approvals:decide'], days = 1): Promise<void> {
  const at = open.place.world.clock.now()
  await open.place.world.tokens.put({
    ...{ tenant: 'main', id, secret_sha256: '0'.repeat(64), name: id, scopes },
    ...{ created_at: new Date(at).toISOString(), created_by: 'user:ana', person: `user:${id}` },
    expires_at: new Date(at + days * 86_400_000).toISOString(),
  })
}

describe('a retry of a run that was decided', () => {
  test('asks again: nothing of the document says that a decision stands', async () => {
    open = await openApprovalPlace()
    const first = await approved(failing(), 'user:ana')
    const again = await retry(first)
    expect(await decide(again, 'user:ana', 'reject')).toBe('rejected')
    await open.ended(again)
    expect(open.prompts).toEqual(['act on staging'])
    expect([await open.problems(first), await open.problems(again)]).toEqual([[], []])
  })

  test('does not where the document says reuse: true, and nothing that was approved is different', async () => {
    open = await openApprovalPlace()
    const first = await approved(failing({ reuse: true }), 'user:ana')
    const again = await retry(first)
    expect(await askedIn(again)).toBe(false)
    const [decision] = await open.place.world.runs.approvals({ tenant: 'main', run_id: first })
    const begun = (await open.events(again)).find(
      ({ type, block_id }) => type === 'block:started' && block_id === 'act',
    )
    expect(begun?.data).toMatchObject({ decisions: [{ approval_id: decision?.id, digest: decision?.digest }] })
    expect(await open.problems(again)).toEqual([])
  })

  test('asks again where it was decided by a token that is revoked since', async () => {
    open = await openApprovalPlace()
    await mint('ci')
    const first = await approved(failing({ reuse: true }), 'token:ci')
    expect(await askedIn(await retry(first))).toBe(false)
    await open.place.world.tokens.revoke('main', 'ci', { at: new Date().toISOString(), by: 'user:ana' })
    const again = await retry(first, { from_block: 'act' })
    expect(await decide(again, 'user:bo', 'reject')).toBe('rejected')
    expect(await askedIn(again)).toBe(true)
  })

  test.each<[string, readonly Scope[], number]>([
    ['was never allowed to decide', ['runs:read'], 1],
    ['has expired', ['approvals:decide'], -1],
  ])('asks again where the token %s', async (_, scopes, days) => {
    open = await openApprovalPlace()
    await mint('ci', scopes, days)
    const first = await approved(failing({ reuse: true }), 'token:ci')
    const again = await retry(first)
    expect(await decide(again, 'user:bo', 'reject')).toBe('rejected')
    expect(await askedIn(again)).toBe(true)
  })

  test('asks again where one of several who approved left the group since', async () => {
    const groups = (people: readonly string[]) => ({ approvals: { groups: { leads: people } } })
    open = await openApprovalPlace(groups(['user:ana', 'user:bo', 'user:cy']))
    const document = failing({ reuse: true, quorum: 2, approvers: ['group:leads'] })
    const first = await approved(document, 'user:ana', 'user:bo')
    expect(await askedIn(await retry(first))).toBe(false)
    const { approvals } = SettingsSchema.parse(groups(['user:bo', 'user:cy']))
    Object.assign(open.place.world.settings, { approvals })
    const again = await retry(first, { from_block: 'act' })
    expect(await decide(again, 'user:cy', 'reject')).toBe('rejected')
    expect(await askedIn(again)).toBe(true)
    expect(open.prompts).toEqual(['act on staging', 'act on staging'])
  })
})

describe('another attempt at a goal', () => {
  const missed = (approval: object) => {
    return judgedDag(contractOf(ACCURACY), { ...VERIFIED, pivot: 'manual' }, [release(approval)])
  }

  test.each([
    ['it does not say reuse', {}],
    ['it says reuse: a pivot takes nothing over', { reuse: true }],
  ])('asks again: %s', async (_, approval) => {
    open = await openApprovalPlace()
    const first = await open.start(missed(approval), { inputs: { said: '[METRIC:accuracy] 0.8' } })
    await decide(first, 'user:ana')
    expect((await open.ended(first)).at(-1)?.type).toBe('run:partial')
    const { json } = await open.call('pivot-run', first, {})
    const next = String((json as unknown as { readonly run_id: string }).run_id)
    expect(await decide(next, 'user:bo')).toBe('approved')
    await open.ended(next)
    expect([await open.problems(first), await open.problems(next)]).toEqual([[], []])
  })
})

describe('items of a fan-out', () => {
  /** `y` fails in every run but the last. */
  const each = (approval: object) => ({
    blocks: [
      release(approval),
      {
        id: 'each',
        inputs: { target },
        outputs: text,
        agent: agent('{{inputs.word}} on {{inputs.target}}'),
        foreach: {
          items: ['x', 'y'],
          as: 'word',
          item_gates: [{ name: 'no-y', check: { type: 'expr', expression: 'inputs.word == "x"' }, on_fail: 'fail' }],
        },
      },
    ],
    edges: [{ from: 'release', to: 'each' }],
  })

  test('behind a decision that a retry takes over stand on that very one, and verify holds it to them', async () => {
    open = await openApprovalPlace()
    const first = await approved(each({ reuse: true }), 'user:ana')
    const again = await retry(first)
    expect(await askedIn(again)).toBe(false)
    expect(open.prompts).toEqual(['x on staging', 'y on staging', 'y on staging'])
    const [decision] = await open.place.world.runs.approvals({ tenant: 'main', run_id: first })
    const begun = (await open.events(again)).filter(
      ({ type, block_id }) => type === 'block:started' && block_id === 'each',
    )
    // Items name nothing themselves: they work with what their block began with.
    expect(begun.map(({ item }) => item)).toEqual([undefined, ...begun.slice(1).map(({ item }) => item)])
    expect(begun[0]?.data).toMatchObject({ decisions: [{ approval_id: decision?.id, digest: decision?.digest }] })
    expect(
      begun
        .slice(1)
        .map(({ item }) => item)
        .sort(),
    ).toEqual([0, 1])
    expect([await open.problems(first), await open.problems(again)]).toEqual([[], []])
    const [, item] = begun
    expect(await unapproved(again, Number(item?.seq), { inputs_hash: '0'.repeat(64) })).toMatchObject([
      expect.stringContaining('began with other inputs than were approved'),
    ])
    expect(await unapproved(again, Number(begun[0]?.seq), { decisions: [] })).toMatchObject([
      expect.stringContaining(`does not stand on decision ${decision?.id}, taken over`),
    ])
  })

  test('are asked about again with another value, and then none of them works with the old one', async () => {
    open = await openApprovalPlace()
    const first = await approved(each({ reuse: true }), 'user:ana')
    const again = await retry(first, { overrides: { 'each.target': 'production' } })
    expect(await decide(again, 'user:bo')).toBe('approved')
    await open.ended(again)
    expect(open.prompts.slice(2).sort()).toEqual(['x on production', 'y on production'])
    expect(await open.problems(again)).toEqual([])
  })

  test('of a block that asks itself are only taken over once it was asked again', async () => {
    open = await openApprovalPlace()
    const [, block] = each({}).blocks
    const document = { blocks: [{ ...block, approval: { prompt: 'Go?' } }] }
    const first = await open.start(document)
    await decide(first, 'user:ana', 'approve', 'each')
    await open.ended(first)
    const again = await retry(first)
    await open.asked(again, 'each')
    expect((await open.events(again)).some(({ item }) => item !== undefined)).toBe(false)
    expect(await decide(again, 'user:bo', 'approve', 'each')).toBe('approved')
    await open.ended(again)
    expect(open.prompts).toEqual(['x on staging', 'y on staging', 'y on staging'])
    expect(await open.problems(again)).toEqual([])
  })
})
