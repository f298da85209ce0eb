import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { verifySignature } from '../../shared/slack/signature.ts'
import { type SlackServer, startSlack } from '../emulators/slack-server.ts'
import { sluice } from './run-cli.ts'

const SECRET = 'the secret of the app'
const TOKEN = 'xoxb-not-a-real-token'
const KEYS = { SLACK_TOKEN: TOKEN, SLACK_SECRET: SECRET }
const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
let slack: SlackServer
let place: Place
let other: Server | undefined

const settingsOf = (more: object = {}) => ({
  team_id: 'T0TEAM',
  channel: 'C0CHAN',
  token: { env: 'SLACK_TOKEN' },
  signing_secret: { env: 'SLACK_SECRET' },
  api_url: slack.api_url,
  url: place.url,
  ...more,
})

beforeAll(async () => {
  slack = await startSlack({ token: TOKEN, signing_secret: SECRET, team: 'T0TEAM', app: 'A0APP', channel: 'C0CHAN' })
  const settings = { data_dir: join(folder, 'data'), port: 0, slack: settingsOfPlace() }
  place = await openPlace(SettingsSchema.parse(settings), { listen: true, keys: new Map(Object.entries(KEYS)) })
})
afterEach(() => {
  other?.close()
  other = undefined
})
afterAll(async () => {
  await place.close()
  await slack.close()
  rmSync(folder, { recursive: true })
})

function settingsOfPlace() {
  const keys = { token: { env: 'SLACK_TOKEN' }, signing_secret: { env: 'SLACK_SECRET' } }
  return { team_id: 'T0TEAM', channel: 'C0CHAN', ...keys, api_url: slack.api_url }
}

interface Told {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly state: string; readonly says: string }[]
}

async function doctor(slackSettings: object | undefined, env: Readonly<Record<string, string>> = KEYS) {
  const text = slackSettings === undefined ? '' : JSON.stringify({ slack: slackSettings })
  writeFileSync(join(folder, 'sluice.yaml'), text)
  const { code, out } = await sluice(['doctor', '--json', '--url', place.url ?? ''], { cwd: folder, env })
  const told: Told = JSON.parse(out)
  const failed = told.checks.filter(({ state }) => state === 'failed').map(({ name, says }) => `${name}: ${says}`)
  return { code, told, failed }
}

/** A server of Sluice whose clock is wrong by so many seconds, or something else altogether. */
async function otherServer(skewSec: number | 'not sluice'): Promise<string> {
  other = createServer(async (request, response) => {
    if (skewSec === 'not sluice') return void response.end('<html>')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const now = Date.now() + skewSec * 1_000
    const one = (name: string) => request.headers[name] as string | undefined
    const signed = { timestamp: one('x-slack-request-timestamp'), signature: one('x-slack-signature'), body }
    const verdict = verifySignature(signed, [SECRET], now)
    response.writeHead(verdict.ok ? 200 : 401, {
      'content-type': 'application/json',
      date: new Date(now).toUTCString(),
    })
    response.end(
      verdict.ok ? JSON.stringify({ challenge: JSON.parse(body.toString()).challenge }) : '{"code":"not_from_slack"}',
    )
  })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

describe('sluice doctor', () => {
  test('finds nothing wrong where nothing is, with Slack and without', async () => {
    const whole = await doctor(settingsOf())
    expect([whole.code, whole.failed]).toEqual([0, []])
    // Whether the console is built is not the tests' to say.
    const checks = whole.told.checks.filter(({ name }) => name !== 'console')
    expect(checks.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'node ok',
      'packages ok',
      'settings ok',
      'data folder ok',
      'inputs skipped',
      'documents skipped',
      'server ok',
      'egress skipped',
      'slack.token ok',
      'slack.scopes ok',
      'slack.url ok',
      'slack.secret ok',
      'slack.clock ok',
    ])
    const bare = await doctor(undefined, {})
    expect([bare.code, bare.failed]).toEqual([0, []])
  })

  test.each<[string, () => object | Promise<object>, Readonly<Record<string, string>>, RegExp]>([
    [
      'a wrong token',
      () => settingsOf(),
      { ...KEYS, SLACK_TOKEN: 'xoxb-old' },
      /^slack\.token: Slack says invalid_auth$/,
    ],
    [
      'no token',
      () => settingsOf(),
      { SLACK_SECRET: SECRET },
      /^slack\.token: environment variable SLACK_TOKEN is not set$/,
    ],
    ['another workspace', () => settingsOf({ team_id: 'T0OTHER' }), KEYS, /^slack\.token: it is of workspace T0TEAM/],
    ['a wrong secret', () => settingsOf(), { ...KEYS, SLACK_SECRET: 'old' }, /^slack\.secret: wrong secret/],
    [
      'an address nobody answers at',
      () => settingsOf({ url: 'http://127.0.0.1:9' }),
      KEYS,
      /^slack\.url: wrong URL: nobody answers/,
    ],
    [
      'the address of something else',
      async () => settingsOf({ url: await otherServer('not sluice') }),
      KEYS,
      /^slack\.url: wrong URL: .*not as Sluice does$/,
    ],
    [
      'a server whose clock is behind',
      async () => settingsOf({ url: await otherServer(-900) }),
      KEYS,
      /^slack\.clock: clock skew: the server is (899|900|901) s behind Slack$/,
    ],
    [
      'a server whose clock is ahead',
      async () => settingsOf({ url: await otherServer(400) }),
      KEYS,
      /^slack\.clock: clock skew: the server is (399|400|401) s ahead of Slack$/,
    ],
  ])('tells %s, and nothing else', async (_what, settings, env, expected) => {
    const { code, failed } = await doctor(await settings(), env)
    expect(code).toBe(100)
    expect(failed).toHaveLength(1)
    expect(failed[0]).toMatch(expected)
  })

  test('tells settings that are wrong, for people too, and never a secret', async () => {
    writeFileSync(join(folder, 'sluice.yaml'), 'slack: { team_id: nobody, token: xoxb-pasted-here }')
    const { code, out, err } = await sluice(['doctor', '--url', place.url ?? ''], { cwd: folder, env: KEYS })
    expect(code).toBe(100)
    expect(out).toMatch(/^FAILED {2}settings/m)
    expect(out).toMatch(/^ +fix: mend sluice\.yaml/m)
    expect(out + err).not.toContain('xoxb-pasted-here')
  })
})

describe('sluice slack manifest', () => {
  test('has the request URL of --url, or of sluice.yaml', async () => {
    writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ slack: settingsOf({ url: 'https://a.example' }) }))
    const own = JSON.parse((await sluice(['slack', 'manifest'], { cwd: folder })).out)
    expect(own.settings.interactivity).toEqual({
      is_enabled: true,
      request_url: 'https://a.example/api/slack/interactions',
    })
    expect(own.oauth_config.scopes.bot).toEqual(['chat:write'])
    const given = await sluice(['slack', 'manifest', '--url', 'https://b.example/prod/'], { cwd: folder })
    expect(given.out).toContain('https://b.example/prod/api/slack/interactions')
  })

  test.each([['http://127.0.0.1:4040'], ['b.example']])('refuses %s: Slack could not reach it', async (url) => {
    const { code, err } = await sluice(['slack', 'manifest', '--url', url], { cwd: folder })
    expect([code, err]).toEqual([2, expect.stringContaining('https://')])
  })
})
