import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { type PostedMessage, type SlackServer, startSlack } from '../../emulators/slack-server.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

export const WORKSPACE = {
  token: 'xoxb-not-a-real-token',
  signing_secret: '8f742231b10e8888abcd99yyyzzz85a5',
  team: 'T0TEAM',
  app: 'A0APP',
  channel: 'C0CHAN',
}
export const ANA = 'U0ANA'
export const BEN = 'U0BEN'

const settingsOf = (slack: SlackServer, more: object = {}) => ({
  team_id: WORKSPACE.team,
  app_id: WORKSPACE.app,
  channel: WORKSPACE.channel,
  token: { env: 'SLACK_TOKEN' },
  signing_secret: { env: 'SLACK_SECRET' },
  api_url: slack.api_url,
  url: 'https://sluice.example.com',
  ...more,
})

/** A local place that listens, and the workspace it talks to. */
export interface SlackPlace extends TestPlace {
  readonly slack: SlackServer
  /** Waits for a message that fits. */
  message(fits: (message: PostedMessage) => boolean): Promise<PostedMessage>
  /** Resolves once what is looked for holds. */
  eventually<T>(look: () => T | undefined | false): Promise<T>
}

const PATIENCE_MS = 60_000

export async function openSlackPlace(
  more: object = {},
  settings: object = {},
  options: PlaceOptions = {},
): Promise<SlackPlace> {
  const slack = await startSlack(WORKSPACE)
  const keys = new Map([
    ['SLACK_TOKEN', WORKSPACE.token],
    ['SLACK_SECRET', WORKSPACE.signing_secret],
  ])
  const providers = { probe: provider(({ prompt }) => `answer to ${prompt}`) }
  const place = await openTestPlace(
    { listen: true, keys, providers, ...options },
    { port: 0, slack: settingsOf(slack, more), ...settings },
  )
  slack.sendTo(`${place.place.url}/api/slack/interactions`)
  const eventually: SlackPlace['eventually'] = async (look) => {
    const late = Date.now() + PATIENCE_MS
    for (;;) {
      const found = look()
      if (found !== undefined && found !== false) return found
      if (Date.now() > late) throw new Error(`nothing of the kind: ${JSON.stringify(slack.messages).slice(0, 3_000)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return Object.assign(Object.create(place) as TestPlace, {
    slack,
    eventually,
    message: (fits: (message: PostedMessage) => boolean) => eventually(() => slack.messages.find(fits)),
    async close() {
      await place.close()
      await slack.close()
    },
  })
}

const text = { text: { type: 'string' } }
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })

/** `build` shows what it made, `deploy` waits for a person. */
export const deploy = (approval: object | boolean = true) => ({
  name: 'release',
  blocks: [
    { id: 'build', outputs: text, agent: agent('build') },
    { id: 'deploy', inputs: { text: { from: 'build.text' } }, outputs: text, agent: agent('deploy'), approval },
  ],
})

export const asked = ({ type }: RunEvent) => type === 'approval:requested'
export const decided = ({ type }: RunEvent) => type === 'approval:decided'

/** Everything a message shows, as text. */
export function wordsOf(blocks: readonly unknown[]): string {
  return [...JSON.stringify(blocks).matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, words]) => JSON.parse(`"${words}"`))
    .join('\n')
}

export function buttonsOf({ blocks }: PostedMessage): readonly string[] {
  return blocks
    .flatMap(({ elements }) => (Array.isArray(elements) ? elements : []))
    .flatMap(({ action_id }) => action_id ?? [])
}
