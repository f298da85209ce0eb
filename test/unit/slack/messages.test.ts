import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NotifyAbout } from '../../../shared/runs/head.ts'
import { escaped } from '../../../shared/slack/block-kit.ts'
import { readButtonValue, reasonModal, writeButtonValue } from '../../../shared/slack/interaction.ts'
import { type AskedInSlack, approvalMessage, approvalNote, runEndNote } from '../../../shared/slack/messages.ts'
import { blockProblems, viewProblems } from '../../emulators/block-kit.ts'

/** What people, documents and models write: anything, with what Slack would read as markup often among it. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '',
    ' ',
    '<!channel>',
    '<@U0EVE>',
    '<https://evil.example|Approve>',
    '&lt;',
    '*b* _i_ `c` ```',
    '\u202eetorppA',
    '\ud83d',
    '\u0000',
  ),
  fc
    .string({ unit: 'binary', minLength: 1 })
    .chain((text) => fc.integer({ min: 1, max: 9_000 }).map((n) => text.repeat(n).slice(0, 20_000))),
)
const id = 'apr_0123456789abcdefghjkmnpqrs_1_0'
const time = '2026-01-01T00:30:00.000Z'
const member = fc.stringMatching(/^[UW][A-Z0-9]{2,20}$/)
const principal = fc.oneof(
  member.map((user) => `slack:${user}`),
  hostile.map((name) => `user:${name}`),
)

const asked: fc.Arbitrary<AskedInSlack> = fc.record({
  item: fc.record(
    {
      id: fc.constant(id),
      block: fc.constant(1),
      block_id: hostile,
      prompt: hostile,
      shown: fc.constant({}),
      digest: fc.constant('d'.repeat(64)),
      requested_at: fc.constant(time),
      expires_at: fc.constant(time),
      on_timeout: fc.constantFrom('reject', 'fail', 'approve'),
      approvers: fc.array(principal, { maxLength: 60 }),
      self_approval: fc.boolean(),
      about: fc.constantFrom('dispatch', 'pre_gates', 'post_gates', 'budget', 'call'),
      tool: fc.constantFrom('ask_person', 'crm.refund'),
      edit: fc.array(hostile, { maxLength: 5 }),
      quorum: fc.integer({ min: 1, max: 9 }),
      escalate: fc.record({ after_sec: fc.nat(), to: fc.array(principal, { maxLength: 60 }) }),
      on_reject: fc.constantFrom('fail', 'iterate', 'route'),
      gates: fc.array(fc.record({ name: hostile, reason: hostile }), { maxLength: 25 }),
      raise: fc.record({ tokens: fc.nat(), usd_micros: fc.nat() }, { requiredKeys: [] }),
    },
    {
      requiredKeys: [
        'id',
        'block',
        'block_id',
        'prompt',
        'shown',
        'digest',
        'requested_at',
        'expires_at',
        'on_timeout',
        'approvers',
        'self_approval',
      ],
    },
  ),
  approval: fc.record(
    {
      block: fc.constant(1),
      status: fc.constantFrom('pending', 'approved', 'rejected', 'expired', 'cancelled'),
      expires_at: fc.constant(time),
      digest: fc.constant('d'.repeat(64)),
      decided_by: principal,
      decided_at: fc.constant(time),
      via: fc.constant('slack'),
      escalated: fc.constant(true as const),
      votes: fc.array(fc.record({ by: principal, via: fc.constant('api'), at: fc.constant(time) }), { maxLength: 30 }),
    },
    { requiredKeys: ['block', 'status', 'expires_at', 'digest'] },
  ),
  run_id: fc.constant('run_0123456789abcdefghjkmnpqrs'),
  dag_name: hostile,
  cost: fc.record({ tokens: fc.nat(), usd: fc.double({ min: 0, max: 1e9, noNaN: true }) }),
  shown: fc.array(fc.record({ name: hostile, text: fc.option(hostile, { nil: undefined }), bytes: fc.nat() }), {
    maxLength: 30,
  }),
  feedback: fc.option(hostile, { nil: undefined }),
  users: fc.dictionary(member, principal, { maxKeys: 5 }),
  open_url: fc.constantFrom('https://sluice.example.com/runs/x', undefined),
}) as fc.Arbitrary<AskedInSlack>

const ABOUT: readonly NotifyAbout[] = ['asked', 'reminded', 'escalated', 'voted', 'decided', 'expired', 'cancelled']

/** All mrkdwn there is: Sluice's own mentions, dates and names in code. */
const OWN_MARKUP =
  /^(?:<@[UW][A-Z0-9]{2,20}>|<!date\^\d+\^\{date_short_pretty\} \{time\}\|[\w:.-]+>|`[^`<>]*`|Until | · may decide: | · | |until )*$/

function expectSafe(blocks: unknown): void {
  expect(blockProblems(blocks, 'message')).toEqual([])
  const text = JSON.stringify(blocks)
  for (const [, markup = ''] of text.matchAll(/"type":"mrkdwn","text":("(?:[^"\\]|\\.)*")/g)) {
    expect(JSON.parse(markup)).toMatch(OWN_MARKUP)
  }
  for (const [, plain = ''] of text.matchAll(/"type":"plain_text","text":("(?:[^"\\]|\\.)*")/g)) {
    expect(JSON.parse(plain)).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)|[\u202a-\u202e\u2066-\u2069]|[^\P{Cc}\t\n]/u)
  }
}

describe('whatever it is about', () => {
  test('a message is one that Slack takes, and nothing in it is markup of somebody else’s', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const { text, blocks } = approvalMessage(one)
        expectSafe(blocks)
        expect(text).not.toMatch(/[<>]/)
        expect(text.length).toBeLessThanOrEqual(300)
        expect(JSON.stringify(blocks).length).toBeLessThan(60_000)
        expect(JSON.stringify(blocks).includes('"actions"')).toBe(one.approval.status === 'pending')
      }),
      { numRuns: 150 },
    )
  })

  test('so is every reply in the thread', () => {
    fc.assert(
      fc.property(asked, fc.constantFrom(...ABOUT), hostile, (one, about, reason) => {
        for (const note of [approvalNote(about, one), runEndNote(one.run_id, 'failed', { code: 'failed', reason })]) {
          if (note !== undefined) expectSafe(note.blocks)
        }
      }),
      { numRuns: 150 },
    )
  })

  test('and every modal', () => {
    for (const decision of ['approve', 'reject', 'waive'] as const) {
      const value = { approval_id: id, decision, digest: 'd'.repeat(32) }
      const click = { ...value, team: 'T0T', user: 'U0U', channel: 'C0C', message_ts: '1.1', at: '1.1' }
      for (const required of [true, false]) expect(viewProblems(reasonModal(click, required))).toEqual([])
    }
  })
})

describe('escaped()', () => {
  test.each([
    ['<!channel> & <@U1>', '&lt;!channel&gt; &amp; &lt;@U1&gt;'],
    ['a\u202eb\u2066c\u0007d\r\ne\tf', 'abcd\ne\tf'],
    ['half \ud83d', 'half \ufffd'],
    ['  around  ', 'around'],
  ])('%j is %j', (text, sent) => {
    expect(escaped(text)).toBe(sent)
  })

  test('never cuts a character or an entity in two', () => {
    expect(escaped('&&&', 9)).toBe('&amp;…')
    expect(escaped('ab😀', 4)).toBe('ab…')
    expect(escaped('x'.repeat(5_000))).toHaveLength(2_900)
  })
})

describe('a button’s value', () => {
  test('is v1, approval, decision and half of the digest, and is read back', () => {
    const text = writeButtonValue({ approval_id: id, decision: 'approve', digest: 'ab'.repeat(32) })
    expect(text).toBe(`v1|${id}|approve|${'ab'.repeat(16)}`)
    expect(readButtonValue(text)).toEqual({ approval_id: id, decision: 'approve', digest: 'ab'.repeat(16) })
    expect(readButtonValue(text.replace('_1_0', '_1_0_a2'))?.approval_id).toBe(`${id}_a2`)
    expect(readButtonValue(text.replace('_1_0', '_1_0_i203a1'))?.approval_id).toBe(`${id}_i203a1`)
  })

  test.each([
    '',
    'v1',
    'v2|x|approve|y',
    `v1|${id}|delete|${'a'.repeat(32)}`,
    `v1|${id}|approve|short`,
    `v1|../x|approve|${'a'.repeat(32)}`,
  ])('%j is none', (text) => {
    expect(readButtonValue(text)).toBeUndefined()
  })
})

describe('a question', () => {
  const base = {
    block: 1,
    block_id: 'deploy',
    prompt: 'Go?',
    shown: {},
    digest: 'd'.repeat(64),
    requested_at: time,
  } as const
  const item = { id, ...base, expires_at: time, on_timeout: 'reject', approvers: [], self_approval: true } as const
  const approval = { block: 1, status: 'pending', expires_at: time, digest: item.digest } as const
  const one: AskedInSlack = {
    item,
    approval,
    run_id: 'run_x',
    dag_name: 'd',
    cost: { tokens: 0, usd: 0 },
    shown: [],
    users: {},
  }
  const actions = (more: object) =>
    [...JSON.stringify(approvalMessage({ ...one, item: { ...item, ...more } })).matchAll(/"action_id":"(\w+)"/g)].map(
      ([, name]) => name,
    )

  test.each<[object, readonly string[]]>([
    [{}, ['sluice_approve', 'sluice_reject']],
    [{ about: 'budget' }, ['sluice_approve', 'sluice_reject']],
    [{ about: 'post_gates' }, ['sluice_waive', 'sluice_reject']],
    [{ about: 'pre_gates', on_reject: 'route' }, ['sluice_waive', 'sluice_reject_with_reason']],
    [{ on_reject: 'iterate' }, ['sluice_approve', 'sluice_reject_with_reason']],
  ])('%j has the buttons %j', (more, buttons) => {
    expect(actions(more)).toEqual(buttons)
  })

  test('says before its words what is not as deployed, and counts what has no room', () => {
    const override = (port: string, value: string) => ({ port, value, sha256: 'a'.repeat(64) })
    const textsOf = (overrides: readonly object[]) => {
      const changes = { overrides } as AskedInSlack['item']['changes']
      const { blocks } = approvalMessage({ ...one, item: { ...item, ...(changes && { changes }) } })
      expectSafe(blocks)
      return (blocks as readonly { readonly text?: { readonly text: string } }[]).map(({ text }) => text?.text ?? '')
    }
    const [, , changed, prompt] = textsOf([override('act.target', '"<production>"')])
    expect(changed).toBe('⚠ Not a plain start of the deployed document\nOverride: act.target = "&lt;production&gt;"')
    expect(prompt).toBe('Go?')
    const many = Array.from({ length: 60 }, (_, i) => override(`b.p${i}`, '&'.repeat(40)))
    const [, , cut = ''] = textsOf(many)
    const told = cut.match(/Override: /g)?.length ?? 0
    expect(told).toBeGreaterThan(5)
    expect(cut).toContain(`and ${60 - told} more: open the run and look at all of it before you decide`)
  })

  test('tells why a gate failed with its signs escaped once, and who may decide by their whole names', () => {
    const gates = [{ name: 'short', reason: 'x < 5 & y' }]
    const more = { about: 'post_gates', gates, approvers: ['user:ana_b', 'iam:*~x`'] } as const
    const told = JSON.stringify(approvalMessage({ ...one, item: { ...item, ...more } }))
    expect(told).toContain('short: x &lt; 5 &amp; y')
    expect(told).toContain('may decide: `user:ana_b` `iam:*~x`')
  })
})
