import type { Command } from 'commander'
import { appManifest } from '../../../shared/slack/app-manifest.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'

/** `sluice slack manifest`. */
export function addSlack(parent: Command, session: Session): void {
  parent
    .command('slack')
    .description('approvals in Slack (docs/slack.md)')
    .command('manifest')
    .description('print the manifest of the Slack app: api.slack.com/apps, Create New App, From a manifest')
    .option('--url <url>', 'where Slack reaches this deployment (default: slack.url of sluice.yaml)')
    .action(async ({ url }: { readonly url?: string }) => {
      session.say(jsonText(appManifest(publicUrl(url ?? (await urlHere()))), 2))
    })
}

/** Slack sends to public https addresses alone. */
function publicUrl(url: string | undefined): string {
  if (url === undefined) {
    throw usageError('Cannot tell where Slack reaches this deployment: give --url, or slack.url in sluice.yaml.')
  }
  if (URL.canParse(url) && new URL(url).protocol === 'https:') return url
  throw usageError(
    `Cannot use "${url}": Slack sends to https:// addresses only. docs/slack.md says how a laptop gets one.`,
  )
}

async function urlHere(): Promise<string | undefined> {
  const { settingsOrDefaults } = await import('../documents/settings-file.ts')
  return settingsOrDefaults().slack?.url
}
