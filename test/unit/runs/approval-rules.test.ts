import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Principal } from '../../../shared/auth/principal.ts'
import { approvalDigest, decisionRefusal, policyHash, ruleThatAllows } from '../../../shared/runs/approval.ts'
import { earlierDecisionWords } from '../../../shared/runs/approval-words.ts'
import type { Vote } from '../../../shared/runs/head.ts'
import { type People, peopleOf, personOf } from '../../../shared/runs/people.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const principal = (name: string): Principal => {
  const [kind = 'user', id = ''] = name.split(':')
  return { kind: kind as Principal['kind'], id, tenant: 'main', scopes: [] }
}
const NOBODY: People = { groups: {}, aliases: {}, self_approval: true }
const SOME: People = {
  ...NOBODY,
  groups: { release: ['user:bo', 'slack:U2'], leads: ['user:cy'], empty: [] },
  aliases: { U1: 'user:ana', U2: 'user:dee' },
}
const open = { approvers: [] as readonly string[], self_approval: true }
const code = (item: typeof open & { escalate?: { after_sec: number; to: string[] } }, name: string, more: Asked = {}) =>
  decisionRefusal(item, more.approval ?? {}, principal(name), more.starter ?? 'user:eve', more.people ?? SOME)?.code
interface Asked {
  readonly approval?: { readonly escalated?: true; readonly votes?: readonly Vote[] }
  readonly starter?: string
  readonly people?: People
}

describe('who may decide', () => {
  test('is anybody where nobody is named, and the default group where there is one', () => {
    expect(code(open, 'user:x')).toBeUndefined()
    const people = { ...SOME, default_group: 'release' }
    expect(code(open, 'user:x', { people })).toBe('not_an_approver')
    expect(code(open, 'user:bo', { people })).toBeUndefined()
    expect(code(open, 'user:bo', { people: { ...people, default_group: 'gone' } })).toBe('not_an_approver')
  })

  test('is who is listed, by name, by group or by another name of the same person, and nobody else', () => {
    const item = { ...open, approvers: ['user:ana', 'group:release', 'group:gone'] }
    const rules = ['user:ana', 'slack:U1', 'user:bo', 'user:dee', 'slack:U2', 'user:cy', 'slack:U9'].map((name) =>
      ruleThatAllows(item, {}, name, SOME),
    )
    const group = 'group:release'
    expect(rules).toEqual(['approvers', 'alias:user:ana', group, group, group, undefined, undefined])
    expect(ruleThatAllows({ ...open, approvers: ['slack:U1'] }, {}, 'user:ana', SOME)).toBe('alias:slack:U1')
    expect(code(item, 'user:cy')).toBe('not_an_approver')
  })

  test('is whom the settings mean by a name, and no longer who merely has it', () => {
    const item = { ...open, approvers: ['user:owner'] }
    const people = { ...SOME, names: { owner: ['user:ana', 'token:t1'] } }
    const rules = ['user:ana', 'slack:U1', 'token:t1', 'user:owner', 'user:bo'].map((name) =>
      ruleThatAllows(item, {}, name, people),
    )
    expect(rules).toEqual(['people:owner', 'people:owner', 'people:owner', undefined, undefined])
    expect(ruleThatAllows(item, {}, 'user:owner', SOME)).toBe('approvers')
    expect(policyHash(item, {}, people)).not.toBe(policyHash(item, {}, SOME))
  })

  test('changes with the group: who left decides no more', () => {
    const item = { ...open, approvers: ['group:release'] }
    const left = { ...SOME, groups: { release: ['slack:U2'] } }
    expect([code(item, 'user:bo'), code(item, 'user:bo', { people: left })]).toEqual([undefined, 'not_an_approver'])
    const hash = (people: People) => policyHash(item, {}, people)
    expect(hash(left)).not.toBe(hash(SOME))
    expect(hash({ ...SOME, groups: { ...SOME.groups, leads: [] } })).toBe(hash(SOME))
  })

  test('grows with an escalation', () => {
    const item = { ...open, approvers: ['user:ana'], escalate: { after_sec: 5, to: ['group:leads'] } }
    expect([code(item, 'user:cy'), code(item, 'user:cy', { approval: { escalated: true } })]).toEqual([
      'not_an_approver',
      undefined,
    ])
    expect(policyHash(item, { escalated: true }, SOME)).not.toBe(policyHash(item, {}, SOME))
  })

  test.each([
    ['the block', { ...open, self_approval: false }, SOME],
    ['the safety policy', open, { ...SOME, self_approval: false }],
  ])('leaves out the starter where %s says so, by whichever name', (_, item, people) => {
    expect(code(item, 'user:eve', { people })).toBe('self_approval')
    expect(code(item, 'slack:U1', { people, starter: 'user:ana' })).toBe('self_approval')
    expect(code(item, 'user:ana', { people, starter: 'slack:U1' })).toBe('self_approval')
    expect(code(item, 'user:bo', { people })).toBeUndefined()
  })

  test('leaves out who has voted, by whichever name', () => {
    const approval = { votes: [{ by: 'slack:U1', via: 'slack', at: 't' }] }
    expect(['user:ana', 'slack:U1', 'user:bo'].map((name) => code(open, name, { approval }))).toEqual([
      'already_voted',
      'already_voted',
      undefined,
    ])
  })

  test('peopleOf() reads sluice.yaml', () => {
    const approvals = { default_group: 'release', groups: { release: ['user:bo'] } }
    const people = peopleOf(SettingsSchema.parse({ approvals, safety: { self_approval: false } }))
    expect(people).toEqual({ ...approvals, names: {}, aliases: {}, self_approval: false })
    expect(() => SettingsSchema.parse({ approvals: { default_group: 'x' } })).toThrow('a group that is there')
    expect(() => SettingsSchema.parse({ approvals: { groups: { a: ['group:b'] } } })).toThrow('a person')
  })
})

const NAMES = ['user:ana', 'user:bo', 'user:cy', 'slack:U1', 'slack:U2', 'iam:ops', 'user:toString']
const someName = fc.constantFrom(...NAMES)
const somePeople: fc.Arbitrary<People> = fc.record({
  groups: fc.dictionary(fc.constantFrom('release', 'leads', 'constructor'), fc.uniqueArray(someName)),
  default_group: fc.option(fc.constantFrom('release', 'constructor', 'gone'), { nil: undefined }),
  aliases: fc.dictionary(fc.constantFrom('U1', 'U2'), fc.constantFrom('user:ana', 'user:bo')),
  self_approval: fc.boolean(),
})
const someItem = fc.record({
  approvers: fc.uniqueArray(fc.oneof(someName, fc.constantFrom('group:release', 'group:constructor', 'group:gone'))),
  self_approval: fc.boolean(),
  quorum: fc.integer({ min: 1, max: 3 }),
})

interface Given {
  readonly name: string
  readonly yes: boolean
}

/** As decide.ts counts: who may not is not counted, and after a decision nobody is asked. */
function voting(
  item: { readonly approvers: readonly string[]; readonly self_approval: boolean; readonly quorum: number },
  people: People,
  starter: string,
  given: readonly Given[],
) {
  let approval: { readonly votes: readonly Vote[] } = { votes: [] }
  let decisions = 0
  for (const { name, yes } of given) {
    const refused = decisionRefusal(item, approval, principal(name), starter, people) !== undefined
    if (refused || decisions > 0) continue
    if (yes) approval = { votes: [...approval.votes, { by: name, via: 'cli', at: 't' }] }
    decisions += Number(!yes || approval.votes.length >= item.quorum)
  }
  return { approval, decisions }
}

/** Whom an entry of a list means, without the names they have elsewhere. */
function meantBy(entry: string, { groups }: People): readonly string[] {
  if (!entry.startsWith('group:')) return [entry]
  const group = entry.slice('group:'.length)
  return Object.hasOwn(groups, group) ? (groups[group] ?? []) : []
}

describe('any votes of any people', () => {
  test('make at most one decision, and those counted are different, allowed people', () => {
    const votes = fc.array(fc.record({ name: someName, yes: fc.boolean() }), { maxLength: 12 })
    void fc.assert(
      fc.property(someItem, somePeople, someName, votes, (item, people, starter, given) => {
        const { approval, decisions } = voting(item, people, starter, given)
        expect(decisions).toBeLessThanOrEqual(1)
        const counted = approval.votes.map(({ by }) => personOf(by, people))
        expect(new Set(counted).size).toBe(counted.length)
        expect(counted.length).toBeLessThanOrEqual(item.quorum)
        for (const { by } of approval.votes) expect(ruleThatAllows(item, {}, by, people)).toBeDefined()
        const mayStarter = item.self_approval && people.self_approval
        if (!mayStarter) expect(counted).not.toContain(personOf(starter, people))
      }),
    )
  })

  test('with a list, whom no entry of it means is refused', () => {
    void fc.assert(
      fc.property(someItem, somePeople, someName, (item, people, name) => {
        fc.pre(item.approvers.length > 0)
        const persons = item.approvers.flatMap((entry) => meantBy(entry, people))
        const isMeant = persons.some((one) => one === name || personOf(one, people) === personOf(name, people))
        expect(ruleThatAllows(item, {}, name, people) !== undefined).toBe(isMeant)
      }),
    )
  })
})

test('a member of Slack nobody has named is no person of their own where persons count', () => {
  const member = { kind: 'slack', id: 'U7', tenant: 'main', scopes: [] } as const
  const people = { groups: {}, aliases: { U1: 'user:ana' }, self_approval: true }
  const item = { approvers: [], self_approval: true }
  const code = (more: object, id = 'U7') =>
    decisionRefusal({ ...item, ...more }, {}, { ...member, id }, 'user:bo', people)?.code
  expect([code({}), code({ quorum: 2 }), code({ self_approval: false })]).toEqual([
    undefined,
    'person_unknown',
    'person_unknown',
  ])
  expect([code({ quorum: 2 }, 'U1'), code({ self_approval: false }, 'U1')]).toEqual([undefined, undefined])
})

describe('approvalDigest()', () => {
  const asked = { prompt: 'Deploy?', shown: { build: { ref: 'r', sha256: 'a', bytes: 1 } }, block_hash: 'h' }
  test.each([
    ['the prompt', { ...asked, prompt: 'Deploy now?' }],
    ['a shown value', { ...asked, shown: { build: { ref: 'r', sha256: 'b', bytes: 1 } } }],
    ['the ports shown', { ...asked, shown: {} }],
    ['the block definition', { ...asked, block_hash: 'i' }],
  ])('changes with %s', (_what, other) => {
    expect(approvalDigest(other)).not.toBe(approvalDigest(asked))
  })
})

test('decidedWords() says who, when and how', () => {
  const decided = {
    block: 1,
    status: 'approved',
    expires_at: 'e',
    digest: 'd',
    decided_by: 'user:ana',
    decided_at: 't',
    via: 'cli',
  } as const
  expect(earlierDecisionWords(decided)).toBe('approved by user:ana at t via cli')
})

describe('persons', () => {
  const two = { ...open, quorum: 2 }
  const role = (id: string, person?: string): Principal => ({ ...principal(`iam:${id}`), ...(person && { person }) })
  const refusal = (item: typeof two, who: Principal, votes: readonly Vote[] = []) =>
    decisionRefusal(item, { votes }, who, 'user:eve', SOME)?.code

  test('one person with two roles is one voter, two persons with one role are two', () => {
    const votes = [{ by: 'iam:Dev', person: 'user:ana', via: 'iam', at: 't' }]
    expect(refusal(two, role('Ops', 'user:ana'), votes)).toBe('already_voted')
    expect(refusal(two, role('Dev', 'user:bo'), votes)).toBeUndefined()
    expect(refusal(two, principal('slack:U1'), votes)).toBe('already_voted')
  })

  test('who cannot be told as a person decides only where persons are neither counted nor compared', () => {
    expect(refusal(two, role('Dev'))).toBe('person_unknown')
    expect(refusal(two, principal('token:a'))).toBe('person_unknown')
    expect(refusal({ ...two, quorum: 1, self_approval: false }, role('Dev'))).toBe('person_unknown')
    expect(refusal({ ...two, quorum: 1 }, role('Dev'))).toBeUndefined()
    expect(refusal(two, role('user/ana'))).toBeUndefined()
  })

  test('who started the run is the same person by another role', () => {
    expect(refusal({ ...two, self_approval: false }, role('Ops', 'user:eve'))).toBe('self_approval')
  })
})
