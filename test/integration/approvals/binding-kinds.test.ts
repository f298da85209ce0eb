import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readStoredRun } from '../../../functions/record/stored-run.ts'
import { checkRun } from '../../../shared/invariants/check-run.ts'
import { type ApprovalPlace, agent, openApprovalPlace } from './approval-place.ts'

/**
 * What a decision binds is the same for every kind of question: of a child run, about gates, about the budget; and for
 * every way a value comes in (docs/approvals.md, "What a decision binds"). Each was a way round an approval before.
 */
let open: ApprovalPlace
afterEach(() => open?.close())

const text = { text: { type: 'string' } }
const target = { type: 'string', default: 'staging' }
const asks = (id: string, more: object = {}) => ({
  id,
  mode: 'approval',
  outputs: { decided_by: 'string' },
  approval: { prompt: 'Go?' },
  ...more,
})
const act = { id: 'act', inputs: { target }, outputs: text, agent: agent('act on {{inputs.target}}') }

async function approve(run: string, block: string, decision: 'approve' | 'waive' | 'reject' = 'approve') {
  const { approval_id, digest } = await open.asked(run, block)
  return open.decide(run, 'user:ana', { decision, digest, approval_id, feedback: 'seen' })
}

async function retry(run: string, body: object): Promise<string> {
  const { json } = await open.call('retry-run', run, body)
  return String((json as unknown as { readonly run_id: string }).run_id)
}

async function patch(run: string, set: object, if_version = 0) {
  const { status, json } = await open.call('patch-context', run, { set, if_version })
  return { status, code: (json as unknown as { readonly code?: string }).code }
}

async function changesOf(run: string, block: string): Promise<unknown> {
  const { json } = await open.call('get-run', run)
  const { approvals } = json as unknown as {
    readonly approvals: readonly { readonly block_id: string; readonly changes?: unknown }[]
  }
  return approvals.findLast(({ block_id }) => block_id === block)?.changes
}

describe('a context key the document does not declare', () => {
  const document = (first: readonly object[] = []) => ({
    blocks: [
      ...first,
      asks('release', { inputs: { env: { type: 'string', default: 'prod' } }, when: 'inputs.env == "prod"' }),
      { id: 'act', outputs: text, agent: agent('act'), depends: 'release.succeeded || release.skipped' },
    ],
    ...(first.length === 0 ? {} : { edges: [{ from: 'first', to: 'release' }] }),
  })
  const refused = { status: 422, json: { code: 'context_skips_question', errors: [{ path: 'context.env' }] } }

  test('takes no question away: at the start, in a retry, by a patch', async () => {
    open = await openApprovalPlace()
    const env = { env: 'test' }
    expect(await open.call('start-run', '', { dag: document(), context: env })).toMatchObject(refused)
    expect(await open.call('start-run', '', { dag: document(), inputs: env })).toMatchObject(refused)
    const id = await open.start(document())
    await approve(id, 'release', 'reject')
    await open.ended(id)
    expect(await open.call('retry-run', id, { context: env })).toMatchObject(refused)
    const patched = await open.start(document([asks('first')]))
    await open.asked(patched, 'first')
    expect(await patch(patched, env)).toEqual({ status: 422, code: 'context_skips_question' })
    expect(open.prompts).toEqual([])
  })

  test('nor through the run it continues', async () => {
    open = await openApprovalPlace()
    const other = await open.start({ blocks: [act] }, { context: { env: 'test' } })
    await open.ended(other)
    expect(await open.call('start-run', '', { dag: document(), continues: other })).toMatchObject(refused)
  })
})

test('an override may not open another path past the question', async () => {
  open = await openApprovalPlace()
  const transform = (expression: string) => ({ handler: 'transform', config: { expression } })
  const document = {
    blocks: [
      { id: 'size', mode: 'deterministic', outputs: { n: 'number' }, deterministic: transform('1000') },
      asks('release', { inputs: { n: { from: 'size.n' } }, when: 'inputs.n > 100' }),
      {
        id: 'small',
        mode: 'deterministic',
        inputs: { n: { from: 'size.n' } },
        when: 'inputs.n <= 100',
        outputs: { ok: 'boolean' },
        deterministic: transform('true'),
      },
      { id: 'act', outputs: text, agent: agent('act'), depends: 'release.succeeded || small.succeeded' },
    ],
  }
  const answer = await open.call('start-run', '', { dag: document, overrides: { 'small.n': 1 } })
  expect(answer).toMatchObject({ status: 422, json: { code: 'override_skips_question' } })
})

describe('a question of a child run', () => {
  const kid = (prompt = 'inner') => ({
    name: 'kid',
    version: '1',
    blocks: [asks('ask'), { id: 'inner', outputs: text, agent: agent(prompt) }],
    edges: [{ from: 'ask', to: 'inner' }],
  })
  const mother = {
    blocks: [{ id: 'gate', mode: 'dag', dag: { name: 'kid' }, outputs: { text: 'string' } }, act],
    edges: [{ from: 'gate', to: 'act' }],
  }
  const write = (document: object) => writeFileSync(join(open.folder, 'kid.yaml'), JSON.stringify(document))
  const kidOf = async (run: string) => {
    const started = await open.until(run, ({ type, block_id }) => type === 'block:started' && block_id === 'gate')
    return String((started.data as { readonly child?: string }).child)
  }

  test('shows and binds what the run above it goes on with', async () => {
    open = await openApprovalPlace()
    write(kid())
    const id = await open.start(mother, { overrides: { 'act.target': 'production' } })
    const child = await kidOf(id)
    await open.asked(child, 'ask')
    const overrides = [{ port: 'act.target', value: '"production"', sha256: expect.any(String) }]
    expect(await changesOf(child, 'ask')).toMatchObject({ above: [{ run_id: id, overrides }] })
    expect(await approve(child, 'ask')).toBe('approved')
    await open.ended(id)
    expect(open.prompts).toEqual(['inner', 'act on production'])
    expect([await open.problems(id), await open.problems(child)]).toEqual([[], []])
  })

  test('keeps the context of the run above it as it is, however it is changed', async () => {
    open = await openApprovalPlace()
    write(kid())
    const id = await open.start(mother)
    const child = await kidOf(id)
    await open.asked(child, 'ask')
    expect(await patch(id, { target: 'production' })).toEqual({ status: 409, code: 'context_is_decided' })
    const run = { tenant: 'main', run_id: id }
    await open.place.world.runs.putContext(run, { version: 1, values: { target: 'production' } }, 0)
    await approve(child, 'ask')
    await open.ended(id)
    expect(open.prompts).toEqual(['inner', 'act on staging'])
    expect(await open.problems(id)).toEqual([])
  })

  test('is asked again by a retry of the run above it; with reuse only where nothing that it binds changed', async () => {
    open = await openApprovalPlace()
    write(kid())
    const id = await open.start(mother)
    await approve(await kidOf(id), 'ask')
    await open.ended(id)
    const other = await retry(id, { overrides: { 'act.target': 'production' } })
    const child = await kidOf(other)
    expect(await approve(child, 'ask', 'reject')).toBe('rejected')
    await open.ended(other)
    expect(open.prompts).toEqual(['inner', 'act on staging'])
    const reusing = { ...kid(), blocks: [asks('ask', { approval: { prompt: 'Go?', reuse: true } }), kid().blocks[1]] }
    write(reusing)
    const first = await open.start(mother)
    await approve(await kidOf(first), 'ask')
    await open.ended(first)
    const same = await retry(first, {})
    await open.ended(same)
    const changed = await retry(first, { overrides: { 'act.target': 'production' } })
    await open.asked(await kidOf(changed), 'ask')
    expect(open.prompts).toEqual(['inner', 'act on staging', 'inner', 'act on staging'])
    expect(await open.problems(same)).toEqual([])
  })

  test('the document of a child run behind a decision is the one of then', async () => {
    open = await openApprovalPlace()
    const plain = (prompt: string) => ({
      name: 'kid',
      version: '1',
      blocks: [{ id: 'inner', outputs: text, agent: agent(prompt) }],
    })
    write(plain('inner'))
    const document = {
      blocks: [asks('ask'), { id: 'work', mode: 'dag', dag: { name: 'kid' }, outputs: { text: 'string' } }],
      edges: [{ from: 'ask', to: 'work' }],
    }
    const id = await open.start(document)
    await open.asked(id, 'ask')
    write(plain('another'))
    await approve(id, 'ask')
    const events = await open.ended(id)
    expect(open.prompts).toEqual([])
    expect(events.find(({ type, block_id }) => type === 'block:failed' && block_id === 'work')?.data).toMatchObject({
      code: 'approval_stale',
    })
    const again = await retry(id, {})
    await approve(again, 'ask')
    await open.ended(again)
    expect(open.prompts).toEqual(['another'])
  })
})

const never = { name: 'never', check: { type: 'contains', port: 'text', values: ['never'] }, on_fail: 'ask' }

test('what a late branch reads, which feeds an action behind the question, is bound with it', async () => {
  open = await openApprovalPlace()
  const document = {
    blocks: [
      { id: 'slow', outputs: text, agent: agent('slow'), post_gates: [never] },
      {
        id: 'pick',
        mode: 'deterministic',
        inputs: { target },
        outputs: { target: 'string' },
        deterministic: { handler: 'pass', config: {} },
      },
      asks('release'),
      { ...act, inputs: { target: { from: 'pick.target' } } },
    ],
    edges: [
      { from: 'slow', to: 'pick' },
      { from: 'release', to: 'act' },
    ],
  }
  const id = await open.start(document)
  await open.asked(id, 'slow')
  await open.asked(id, 'release')
  expect(await patch(id, { target: 'production' })).toEqual({ status: 409, code: 'context_is_decided' })
  const run = { tenant: 'main', run_id: id }
  await open.place.world.runs.putContext(run, { version: 1, values: { target: 'production' } }, 0)
  await approve(id, 'release')
  await approve(id, 'slow', 'waive')
  await open.ended(id)
  expect(open.prompts).toEqual(['slow', 'act on staging'])
  expect(await open.problems(id)).toEqual([])
})

describe('a waiver', () => {
  const document = {
    blocks: [
      {
        id: 'check',
        inputs: { x: { type: 'string', default: 'a' } },
        outputs: text,
        agent: agent('check'),
        post_gates: [never],
      },
      act,
    ],
    edges: [{ from: 'check', to: 'act' }],
  }

  test('shows what is not as deployed, and binds what it lets happen', async () => {
    open = await openApprovalPlace()
    const plain = await open.start(document)
    const { digest } = await open.asked(plain, 'check')
    const id = await open.start(document, { overrides: { 'check.x': 'b' } })
    const asked = await open.asked(id, 'check')
    expect(asked.digest).not.toBe(digest)
    expect(await changesOf(id, 'check')).toMatchObject({ overrides: [{ port: 'check.x', value: '"b"' }] })
    expect(await patch(id, { target: 'production' })).toEqual({ status: 409, code: 'context_is_decided' })
    const run = { tenant: 'main', run_id: id }
    await open.place.world.runs.putContext(run, { version: 1, values: { target: 'production' } }, 0)
    expect(await approve(id, 'check', 'waive')).toBe('approved')
    const events = await open.ended(id)
    expect(open.prompts).toEqual(['check', 'check', 'act on staging'])
    const begun = events.find(({ type, block_id }) => type === 'block:started' && block_id === 'act')
    expect(begun?.data).toMatchObject({ decisions: [{ digest: asked.digest }] })
    expect(await open.problems(id)).toEqual([])
  })
})

describe('a question about the budget', () => {
  const calls = (prompt: string, max_tokens: number) => ({ ...agent(prompt), model_params: { max_tokens } })
  const document = (tokens = 50) => ({
    budget: { tokens, on_exceed: 'ask' },
    blocks: [
      { id: 'draft', outputs: text, agent: calls('draft', 60) },
      { ...act, agent: calls('act on {{inputs.target}}', 5) },
    ],
    edges: [{ from: 'draft', to: 'act' }],
  })

  test('shows what is not as deployed, binds what it lets happen, and takes no yes to another one', async () => {
    open = await openApprovalPlace()
    const plain = await open.asked(await open.start(document()), 'draft')
    const lower = await open.asked(await open.start(document(49)), 'draft')
    const id = await open.start(document(), { overrides: { 'act.target': 'production' } })
    const { digest, approval_id } = await open.asked(id, 'draft')
    expect(new Set([plain.digest, lower.digest, digest]).size).toBe(3)
    expect(await changesOf(id, 'draft')).toMatchObject({ overrides: [{ port: 'act.target', value: '"production"' }] })
    for (const other of [plain, lower])
      expect(await open.decide(id, 'user:ana', { decision: 'approve', approval_id, digest: other.digest })).toBe(
        'digest_changed',
      )
    expect((await open.place.world.runs.head({ tenant: 'main', run_id: id }))?.budget.cap_tokens).toBe(50)
    expect(await approve(id, 'draft')).toBe('approved')
    const events = await open.ended(id)
    expect(open.prompts).toEqual(['draft', 'act on production'])
    const begun = events.find(({ type, block_id }) => type === 'block:started' && block_id === 'act')
    expect(begun?.data).toMatchObject({ decisions: [{ approval_id, digest }] })
    expect(events.filter(({ type }) => type === 'approval:refused')).toHaveLength(2)
    expect(await open.problems(id)).toEqual([])
  })

  test('lets what is behind it work with the context of then alone', async () => {
    open = await openApprovalPlace()
    const id = await open.start(document())
    await open.asked(id, 'draft')
    expect(await patch(id, { target: 'production' })).toEqual({ status: 409, code: 'context_is_decided' })
    const run = { tenant: 'main', run_id: id }
    await open.place.world.runs.putContext(run, { version: 1, values: { target: 'production' } }, 0)
    expect(await approve(id, 'draft')).toBe('approved')
    await open.ended(id)
    expect(open.prompts).toEqual(['draft', 'act on staging'])
    expect(await open.problems(id)).toEqual([])
  })

  test('takes no yes to the one before it, and a retry asks it again', async () => {
    open = await openApprovalPlace()
    const greedy = document()
    const [draft] = greedy.blocks
    const twice = { ...greedy, blocks: [draft, { ...act, agent: calls('act on {{inputs.target}}', 150) }] }
    const id = await open.start(twice)
    const first = await open.asked(id, 'draft')
    await approve(id, 'draft')
    const second = await open.asked(id, 'act')
    const stale = { decision: 'approve', approval_id: second.approval_id, digest: first.digest } as const
    expect(await open.decide(id, 'user:ana', stale)).toBe('digest_changed')
    expect(await approve(id, 'act', 'reject')).toBe('rejected')
    await open.ended(id)
    expect(open.prompts).toEqual(['draft'])
    const again = await retry(id, {})
    await approve(again, 'act', 'reject')
    await open.ended(again)
    expect([await open.problems(id), await open.problems(again)]).toEqual([[], []])
  })
})

test('of several decisions a retry stands on the one whose result it took over', async () => {
  open = await openApprovalPlace()
  const document = {
    blocks: [
      asks('release', { approval: { prompt: 'Go?', reuse: true } }),
      { ...act, post_gates: [{ ...never, on_fail: 'fail' }] },
    ],
    edges: [{ from: 'release', to: 'act' }],
  }
  const first = await open.start(document, { context: { target: 'X' } })
  await approve(first, 'release')
  await open.ended(first)
  const second = await retry(first, { context: { target: 'Y' } })
  await approve(second, 'release')
  await open.ended(second)
  const third = await retry(second, { context: { target: 'X' } })
  await open.ended(third)
  expect(open.prompts).toEqual(['act on X', 'act on Y', 'act on X'])
  expect(await open.problems(third)).toEqual([])
})

describe('whoever decides is shown', () => {
  const document = {
    blocks: [asks('first'), asks('release', { approval: { prompt: 'Go?', on_reject: 'iterate' } }), act],
    edges: [
      { from: 'first', to: 'release' },
      { from: 'release', to: 'act' },
    ],
  }

  test('that no document of its name is deployed, and what the context had at the start', async () => {
    open = await openApprovalPlace()
    const id = await open.start(document, { context: { target: 'production' } })
    await open.asked(id, 'first')
    expect(await changesOf(id, 'first')).toMatchObject({
      document: { of: 'none' },
      context: [{ key: 'target', version: 0, value: '"production"' }],
    })
    const [started] = await open.events(id)
    expect(started?.data).toMatchObject({ context: { count: 1, keys: ['target'] } })
  })

  test('what was patched in the run before: by an iteration, a retry, a run that continues it', async () => {
    open = await openApprovalPlace()
    const other = await open.start({ blocks: [asks('hold'), act] })
    await open.asked(other, 'hold')
    expect(await patch(other, { target: 'production' })).toMatchObject({ status: 200 })
    await approve(other, 'hold')
    await open.ended(other)
    const context = [
      { key: 'target', version: 0, value: '"production"', from: other, by: expect.stringMatching(/^user:/) },
    ]
    const continued = await open.start(document, { continues: other })
    await open.asked(continued, 'first')
    expect(await changesOf(continued, 'first')).toMatchObject({ context })
    await approve(continued, 'first')
    await approve(continued, 'release', 'reject')
    const end = (await open.ended(continued)).at(-1)
    const next = end?.type === 'run:iterated' ? String(end.data.next_run) : ''
    await open.asked(next, 'first')
    expect(await changesOf(next, 'first')).toMatchObject({ context })
    expect(await open.problems(next)).toEqual([])
  })

  test('a second edit beside the first', async () => {
    open = await openApprovalPlace()
    const edited = (...prompts: readonly string[]) => ({
      blocks: [asks('ask'), ...prompts.map((prompt, i) => ({ id: `b${i}`, outputs: text, agent: agent(prompt) }))],
      edges: prompts.map((_, i) => ({ from: 'ask', to: `b${i}` })),
    })
    const id = await open.start(edited('a', 'b'))
    await approve(id, 'ask', 'reject')
    await open.ended(id)
    const first = await retry(id, { dag: edited('A', 'b') })
    await approve(first, 'ask', 'reject')
    await open.ended(first)
    const second = await retry(first, { dag: edited('A', 'B') })
    await open.asked(second, 'ask')
    expect(await changesOf(second, 'ask')).toMatchObject({ document: { of: id, changed: ['b0', 'b1'] } })
  })
})

test('verify finds an action behind a decision that worked with something else, or stands on none', async () => {
  open = await openApprovalPlace()
  const id = await open.start({ blocks: [asks('release'), act], edges: [{ from: 'release', to: 'act' }] })
  await approve(id, 'release')
  await open.ended(id)
  const run = { tenant: 'main', run_id: id }
  const meta = await open.place.world.runs.meta(run)
  if (meta === undefined) throw new Error('no META')
  const { stored } = await readStoredRun(open.place.world, run, meta)
  const broken = async (over: object) => {
    const events = stored.events.map((event) =>
      event.type === 'block:started' && event.block_id === 'act'
        ? { ...event, data: { ...event.data, ...over } }
        : event,
    )
    const checks = await checkRun({ ...stored, events: events as typeof stored.events })
    return checks.find(({ n }) => n === 39)?.problems
  }
  expect(await broken({})).toEqual([])
  expect(await broken({ inputs_hash: '0'.repeat(64) })).toMatchObject([expect.stringContaining('other inputs')])
  expect(await broken({ decisions: [] })).toMatchObject([expect.stringContaining('does not stand on decision')])
})
