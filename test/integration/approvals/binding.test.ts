import { afterEach, describe, expect, test } from 'vitest'
import { type ApprovalPlace, agent, openApprovalPlace } from './approval-place.ts'

/** What a decision binds (docs/approvals.md): found by attack, each a way round an approval before. */
let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const ask = (more: object = {}) => ({
  id: 'owners',
  mode: 'approval',
  inputs: { count: { from: 'board.count' } },
  outputs: { decided_by: 'string' },
  approval: { prompt: 'Accept {{inputs.count}}?' },
  ...more,
})
const board = {
  id: 'board',
  mode: 'deterministic',
  outputs: { count: 'number' },
  deterministic: { handler: 'transform', config: { expression: '3' } },
}
const act = (more: object = {}) => ({
  id: 'act',
  inputs: { target: { type: 'string', default: 'staging' } },
  outputs: text,
  agent: agent('act on {{inputs.target}}'),
  ...more,
})
const behind = { edges: [{ from: 'owners', to: 'act' }] }
const gated = { blocks: [board, ask(), act()], ...behind }
const skippable = {
  blocks: [
    board,
    ask({ when: 'inputs.count > 0' }),
    act({ depends: 'board.succeeded && (owners.succeeded || owners.skipped)' }),
  ],
}

const start = (body: object) => open?.call('start-run', '', body)

describe('an override', () => {
  test.each([['owners.count', 0]])('that could take a question away is refused: %s', async (port, value) => {
    open = await openApprovalPlace()
    const answer = await start({ dag: skippable, overrides: { [port]: value } })
    expect(answer).toMatchObject({
      status: 422,
      json: {
        code: 'override_skips_question',
        errors: [
          {
            path: `overrides["${port}"]`,
            message: 'It decides whether block "owners" asks people, and block "act" may run when it does not ask.',
          },
        ],
      },
    })
  })

  test('is shown to whoever decides, bound by the digest, told in run:started, and runs as it was shown', async () => {
    open = await openApprovalPlace()
    const plain = await open.start(gated)
    const asked = await open.asked(plain, 'owners')
    const id = await open.start(gated, { overrides: { 'act.target': 'production' } })
    const { digest } = await open.asked(id, 'owners')
    expect(digest).not.toBe(asked.digest)
    const overrides = [{ port: 'act.target', value: '"production"', sha256: expect.any(String) }]
    const { json } = await open.call('get-run', id)
    expect(json).toMatchObject({ run: { changes: { overrides } }, approvals: [{ changes: { overrides } }] })
    const [started] = await open.events(id)
    expect(started?.data).toMatchObject({ overrides: { count: 1, ports: ['act.target'] } })
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest: asked.digest })).toBe('digest_changed')
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('approved')
    await open.ended(id)
    expect(open.prompts).toEqual(['act on production'])
    expect(await open.problems(id)).toEqual([])
  })
})

describe('the context', () => {
  test('that a block behind the question reads stays as it was when it was asked', async () => {
    open = await openApprovalPlace()
    const id = await open.start(gated, { context: { target: 'staging' } })
    const { digest } = await open.asked(id, 'owners')
    const patch = { set: { target: 'production' }, if_version: 0 }
    expect(await open.call('patch-context', id, patch)).toMatchObject({ status: 409 })
    const run = { tenant: 'main', run_id: id }
    await open.place.world.runs.putContext(run, { version: 1, values: { target: 'production' } }, 0)
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('approved')
    const events = await open.ended(id)
    expect(open.prompts).toEqual(['act on staging'])
    const begun = events.find(({ type, block_id }) => type === 'block:started' && block_id === 'act')
    expect(begun?.data).toMatchObject({ decisions: [{ digest }] })
    expect(await open.problems(id)).toEqual([])
  })

  test('patched before the question is shown with it', async () => {
    open = await openApprovalPlace()
    const first = { id: 'first', mode: 'approval', outputs: { decided_by: 'string' }, approval: { prompt: 'Begin?' } }
    const document = {
      blocks: [first, { ...ask(), inputs: {}, approval: { prompt: 'Go?' } }, act()],
      edges: [
        { from: 'first', to: 'owners' },
        { from: 'owners', to: 'act' },
      ],
    }
    const id = await open.start(document, { context: { target: 'staging' } })
    const before = await open.asked(id, 'first')
    expect((await open.call('patch-context', id, { set: { target: 'production' }, if_version: 0 })).status).toBe(200)
    await open.decide(id, 'user:ana', { decision: 'approve', digest: before.digest })
    const { digest } = await open.asked(id, 'owners')
    const { json } = await open.call('get-run', id)
    const began = { key: 'target', version: 0, value: '"staging"' }
    const context = [began, { key: 'target', version: 1, by: expect.stringMatching(/^user:/) }]
    expect(json).toMatchObject({ run: { changes: { context } }, approvals: [{}, { changes: { context } }] })
    await open.decide(id, 'user:ana', { decision: 'approve', digest })
    await open.ended(id)
    expect(open.prompts).toEqual(['act on production'])
  })

  test('in which a question was passed by may not be changed so that it would have been asked', async () => {
    open = await openApprovalPlace()
    const document = {
      blocks: [
        { ...ask({ when: 'inputs.env == "prod"', approval: { prompt: 'Go?' } }), inputs: { env: { type: 'string' } } },
        act({ id: 'slow', inputs: {}, agent: agent('slow') }),
        act({
          inputs: { env: { type: 'string' }, slow: { from: 'slow.text' } },
          agent: agent('act on {{inputs.env}}'),
          depends: 'owners.succeeded || owners.skipped',
        }),
      ],
    }
    const id = await open.start(document, { context: { env: 'test' } })
    await open.until(id, ({ type, block_id }) => type === 'block:skipped' && block_id === 'owners')
    const answer = await open.call('patch-context', id, { set: { env: 'prod' }, if_version: 0 })
    // Refused, or taken when nothing was left that it could change: never is it used.
    expect([200, 409]).toContain(answer.status)
    await open.ended(id)
    expect(open.prompts).not.toContain('act on prod')
  })
})

describe('a document that comes with the request', () => {
  test('is shown as a difference to the document of the run that is retried, and is asked about', async () => {
    open = await openApprovalPlace()
    const id = await open.start(gated)
    const { digest } = await open.asked(id, 'owners')
    await open.decide(id, 'user:ana', { decision: 'reject', digest, feedback: 'no' })
    await open.ended(id)
    const edited = { blocks: [board, ask(), act({ agent: agent('act twice') })], ...behind }
    const retried = await open.call('retry-run', id, { dag: edited })
    const again = String(retried.json['run_id' as never])
    await open.asked(again, 'owners')
    const { json } = await open.call('get-run', again)
    const document = { of: id, changed: ['act'], added: [], removed: [] }
    expect(json).toMatchObject({ approvals: [{ changes: { document } }] })
    const [started] = await open.events(again)
    expect(started?.data).toMatchObject({ edited: { of: id, blocks: ['act'] } })
  })
})
