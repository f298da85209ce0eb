import { describe, expect, test } from 'vitest'
import type { Routing } from '../../../shared/document/bind-agents.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { unreachableApprovers } from '../../../shared/document/warnings.ts'
import { SettingsSchema, withLocalPeople } from '../../../shared/settings/settings.ts'

const settings = (given: object) => SettingsSchema.parse(given)
const ME = { kind: 'user', id: 'ana' } as const
const local = (given: object = {}) => withLocalPeople(settings(given), ME)
const SLACK = {
  team_id: 'T012AB3CD',
  channel: 'C012AB3CD',
  token: { env: 'NO_TOKEN' },
  signing_secret: { env: 'NO_SECRET' },
  users: { U012AB3CD: 'user:bo' },
}
const ALL = ['user:ana', 'user:bo', 'user:owner', 'slack:U1', 'iam:ops', 'token:t1', 'group:some', 'group:none']
const GROUPS = { approvals: { groups: { some: ['user:ana', 'user:zoe'], none: [] } } }
const nobody = (place: Routing) =>
  unreachableApprovers({ approvers: ALL }, ['approval'], place).map(({ message }) => /"([^"]+)"/.exec(message)?.[1])

describe('approvers nobody can come as', () => {
  test.each<[string, Routing, readonly string[]]>([
    ['a place without login', local(GROUPS), ['user:bo', 'slack:U1', 'iam:ops', 'token:t1', 'group:none']],
    ['one with Slack', local({ ...GROUPS, slack: SLACK }), ['iam:ops', 'token:t1', 'group:none']],
    ['one with tokens', local({ ...GROUPS, auth: { mode: 'token' } }), ['slack:U1', 'iam:ops', 'group:none']],
    [
      'a deployment whose callers are roles',
      settings({ ...GROUPS, iam_people: [] }),
      ['user:ana', 'user:bo', 'user:owner', 'slack:U1', 'token:t1', 'group:some', 'group:none'],
    ],
    [
      'one whose sessions are named after persons',
      settings({ ...GROUPS, iam_people: ['dev'] }),
      ['user:owner', 'slack:U1', 'token:t1', 'group:none'],
    ],
    ['a place of which nothing is known', settings(GROUPS), ['group:none']],
    [
      'a name with nobody behind it who can',
      local({ ...GROUPS, people: { owner: ['iam:ops'] } }),
      ['user:bo', 'user:owner', 'slack:U1', 'iam:ops', 'token:t1', 'group:none'],
    ],
  ])('%s', (_name, place, expected) => expect(nobody(place)).toEqual(expected))

  test('are a warning with what to do, and the document is valid', () => {
    const block = { id: 'a', agent: { provider: 'local', model: 'outline' }, outputs: { text: 'string' } }
    const dag = JSON.stringify({ name: 'd', blocks: [{ ...block, approval: { approver: 'boss' } }] })
    const parsed = parseDag(dag, { name: 'd', providers: ['local'], routing: local() })
    expect(parsed.ok && parsed.warnings).toMatchObject([
      {
        code: 'approver_unreachable',
        path: 'blocks[0].approval',
        message: expect.stringContaining('people: { boss: ["user:NAME"] }'),
      },
    ])
    const owner = parseDag(dag.replace('boss', 'owner'), { name: 'd', providers: ['local'], routing: local() })
    expect(owner.ok && owner.warnings).toEqual([])
  })
})

describe('a question that nobody could answer is a warning too', () => {
  const found = (policy: object, place: object) =>
    unreachableApprovers({ approvers: [], ...policy } as never, ['approval'], place as never).map(({ path }) => path)
  const local = { local_person: 'user:me' }

  test('of "owner", where the settings do not say who that is', () => {
    const owner = { approvers: ['user:owner'] }
    expect(found(owner, { auth: { mode: 'token' } })).toHaveLength(1)
    expect(found(owner, { auth: { mode: 'jwt' } })).toHaveLength(1)
    expect(found(owner, { iam_people: ['AWSReservedSSO_*'] })).toHaveLength(1)
    expect(found(owner, { auth: { mode: 'token' }, people: { owner: ['user:ana'] } })).toEqual([])
  })

  test('of several people, or another person than the starter, where one person comes', () => {
    expect(found({ quorum: 2 }, local)).toEqual(['approval.quorum'])
    expect(found({ self_approval: false }, local)).toEqual(['approval.self_approval'])
    expect(found({ quorum: 2 }, { ...local, slack: {} })).toEqual([])
    expect(found({ quorum: 2 }, { auth: { mode: 'token' } })).toEqual([])
  })

  test('of a default group nobody can come as', () => {
    const approvals = { default_group: 'release', groups: { release: ['user:ana'] } }
    expect(found({}, { ...local, approvals })).toEqual(['approval'])
    expect(found({}, { ...local, approvals: { ...approvals, groups: { release: ['user:me'] } } })).toEqual([])
  })
})
