import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const GROUPS = { release: ['user:ana'], leads: [] }
const routing = SettingsSchema.parse({ approvals: { groups: GROUPS } })
const GATE = 'post_gates: [{ name: long, check: { type: not_empty, port: out } }]'

/** A document with one block that asks; `▶` stands right before the place of the error. */
const ask = (approval: string, more = '') =>
  `blocks:
  - id: plan
    agent: { provider: local, model: m }
    inputs: { goal: string, count: { type: number, required: false } }
    outputs: { out: string }
    approval: { ${approval} }
    ${more}`

type Row = readonly [code: string, path: string, text: string, message: string]

const ROWS: readonly Row[] = [
  ['invalid_value', 'quorum', ask('quorum: ▶0'), 'at least 1'],
  ['limit_exceeded', 'quorum', ask('quorum: ▶21'), 'the limit is 20'],
  ['invalid_value', 'quorum', ask('quorum: ▶2, approvers: [user:ana]'), 'is 2, but one person is listed'],
  ['invalid_value', 'quorum', ask('quorum: ▶3, approvers: [user:ana, iam:x]'), 'but 2 people are listed'],
  ['invalid_value', 'edit', ask('quorum: 2, edit: ▶[goal]'), 'quorum is 2'],
  ['unknown_input', 'edit[1]', ask('edit: [goal, ▶out]'), 'lets its approver edit "out", but its inputs are "goal"'],
  ['invalid_value', 'remind_sec', ask('remind_sec: ▶60, timeout_sec: 60'), 'nobody is asked any more'],
  ['limit_exceeded', 'remind_sec', ask('remind_sec: ▶9, timeout_sec: 1000'), '111 reminders in 1000 seconds'],
  ['invalid_value', 'escalate.after_sec', ask('escalate: { after_sec: ▶1800, to: [user:b] }'), 'timeout_sec, 1800'],
  ['missing_key', 'escalate.to', ask('escalate: ▶{ after_sec: 5 }'), 'to'],
  ['invalid_value', 'escalate.to', ask('escalate: { after_sec: 5, to: ▶[] }'), 'at least 1'],
  ['invalid_value', 'escalate.to[0]', ask('escalate: { after_sec: 5, to: [▶ana] }'), 'Did you mean "user:ana"?'],
  ['unknown_key', 'escalate.too', ask('escalate: { after_sec: 5, to: [user:a], ▶too: 1 }'), 'Did you mean "to"?'],
  ['unknown_group', 'approvers[0]', ask('approvers: [▶"group:relase"]'), 'Did you mean "group:release"?'],
  ['unknown_group', 'approver', ask('approver: ▶"group:ops"'), 'the groups of sluice.yaml are "release", "leads"'],
  ['unknown_group', 'escalate.to[0]', ask('escalate: { after_sec: 5, to: [▶"group:ops"] }'), 'ops: [user:NAME]'],
  ['invalid_value', 'max_iterations', ask('on_reject: iterate, max_iterations: ▶0'), 'at least 1'],
  ['invalid_value', 'on_reject', ask('on_reject: ▶again'), '"iterate"'],
  ['route_without_rule', 'on_reject', ask('on_reject: ▶route'), 'when_gate: approval'],
  [
    'route_without_rule',
    'on_reject',
    ask('on_reject: ▶route', `${GATE}\n    on_gate_fail: [{ when_gate: long, route_to: plan }]`),
    'says where to',
  ],
]

const RULES: readonly Row[] = [
  [
    'unknown_gate_name',
    'on_gate_fail[0].when_gate',
    ask('on_reject: fail', 'on_gate_fail: [{ when_gate: ▶approval, route_to: plan }]'),
    'Add on_reject: route to its approval.',
  ],
  [
    'duplicate_gate',
    'approval.on_reject',
    ask(
      'on_reject: ▶route',
      `${GATE.replace('long', 'approval')}\n    on_gate_fail: [{ when_gate: approval, route_to: plan }]`,
    ),
    'Rename the gate.',
  ],
]

describe('an approval is refused at the exact place,', () => {
  const rows = [...ROWS.map(([code, path, ...rest]): Row => [code, `approval.${path}`, ...rest]), ...RULES]
  test.each(rows)('%s at "%s": %s', (code, path, marked, message) => {
    const before = marked.slice(0, marked.indexOf('▶')).split('\n')
    const place = { line: before.length, column: (before.at(-1) ?? '').length + 1 }
    const result = parseDag(marked.replace('▶', ''), { name: 'research', routing })
    expect(result).toMatchObject({ ok: false, errors: [{ code, path: `blocks[0].${path}`, ...place }] })
    expect(result.ok ? '' : result.errors[0]?.message).toContain(message)
  })
})

describe('an approval is read', () => {
  const policyOf = (approval: string, more = '') => {
    const parsed = parseDag(ask(approval, more), { name: 'research', routing })
    if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join('\n'))
    return parsed.dag.blocks[0]?.approval
  }

  test('with everything it may have', () => {
    const given = 'approvers: ["group:release", "slack:U1"], quorum: 1, remind_sec: 600, edit: [goal, goal]'
    const more =
      'escalate: { after_sec: 1200, to: ["group:leads", "group:leads"] }, on_reject: iterate, max_iterations: 2'
    expect(policyOf(`${given}, ${more}`)).toMatchObject({
      approvers: ['group:release', 'slack:U1'],
      quorum: 1,
      remind_sec: 600,
      escalate: { after_sec: 1_200, to: ['group:leads'] },
      edit: ['goal'],
      on_reject: 'iterate',
      max_iterations: 2,
    })
  })

  test('with a rejection that sends the run back', () => {
    const rule = 'on_gate_fail: [{ when_gate: approval, route_to: plan }]'
    expect(policyOf('on_reject: route', rule)).toMatchObject({ on_reject: 'route' })
  })

  test('with more votes than people who are listed, where a group is among them or nobody is', () => {
    expect(policyOf('quorum: 5, approvers: [user:ana, "group:release"]')).toMatchObject({ quorum: 5 })
    expect(policyOf('quorum: 2, approvers: [user:ana], escalate: { after_sec: 5, to: [user:bo] }')).toMatchObject({
      quorum: 2,
    })
    expect(policyOf('quorum: 5')).toMatchObject({ quorum: 5, approvers: [] })
  })

  test('with groups nobody knows of where no settings are at hand', () => {
    expect(parseDag(ask('approvers: ["group:ops"]'))).toMatchObject({ ok: true })
  })
})

describe('where persons cannot be told', () => {
  const among = (more: object, approval: string) => {
    const parsed = parseDag(ask(approval), { providers: ['local'], routing: { ...routing, ...more } })
    return parsed.ok ? [] : parsed.errors.map(({ code, path }) => `${code} ${path}`)
  }

  test('a deployment of roles alone refuses a quorum and self_approval: false, and says what to do', () => {
    const at = 'blocks[0].approval'
    expect(among({ iam_people: [] }, 'quorum: 2')).toEqual([`person_unknown ${at}.quorum`])
    expect(among({ iam_people: [] }, 'self_approval: false')).toEqual([`person_unknown ${at}.self_approval`])
    expect(among({ iam_people: [] }, 'quorum: 1')).toEqual([])
  })

  test('one that vouches for a role takes them, and so does any other place', () => {
    for (const more of [{ iam_people: ['AWSReservedSSO_*'] }, {}])
      expect(among(more, 'quorum: 2, self_approval: false')).toEqual([])
  })
})
