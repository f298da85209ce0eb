import { describe, expect, test } from 'vitest'
import { parseSettings } from '../../../shared/settings/parse.ts'

const good = {
  team_id: 'T012AB3CD',
  channel: 'C012AB3CD',
  token: { env: 'SLACK_TOKEN' },
  signing_secret: { env: 'SLACK_SECRET' },
}
const parse = (slack: object) => parseSettings(JSON.stringify({ slack }), 'sluice.yaml').slack

describe('slack in sluice.yaml', () => {
  test('is absent, or filled in with what Slack itself is', () => {
    expect(parseSettings('', 'sluice.yaml').slack).toBeUndefined()
    expect(parse(good)).toEqual({ ...good, tenant: 'main', users: {}, api_url: 'https://slack.com/api/' })
  })

  test('takes two signing secrets while one is rotated', () => {
    const two = [{ env: 'NEW' }, { env: 'OLD' }]
    expect(parse({ ...good, signing_secret: two })?.signing_secret).toEqual(two)
  })

  test.each<[object, RegExp]>([
    [{ team_id: 'acme' }, /slack\.team_id: .*id of the workspace/],
    [{ channel: '#approvals' }, /slack\.channel: .*id of a channel/],
    [{ signing_secret: [] }, /slack\.signing_secret/],
    [{ users: { U012AB3CD: 'ana' } }, /slack\.users\.U012AB3CD: .*a principal/],
    [{ api_url: 'http://evil.example/' }, /slack\.api_url: .*https/],
    [{ open_url: 'https://x.example/runs' }, /slack\.open_url: .*\{run_id\}/],
    [{ colour: 'red' }, /colour/],
  ])('refuses %j', (changed, words) => {
    expect(() => parse({ ...good, ...changed })).toThrow(words)
  })

  test.each([{ token: 'xoxb-pasted' }, { token: { env: 'xoxb-pasted' } }, { signing_secret: 'xoxb-pasted' }])(
    'does not repeat a secret that was pasted into it: %j',
    (changed) => {
      let told = ''
      try {
        parse({ ...good, ...changed })
      } catch (error) {
        told = String(error)
      }
      expect(told).toContain('Cannot use the settings')
      expect(told).not.toContain('xoxb-pasted')
    },
  )
})
