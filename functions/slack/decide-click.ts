import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { asJson, block } from '../../shared/slack/blocks.ts'
import { escaped } from '../../shared/slack/plain.ts'
import type { SlackClick } from '../../shared/slack/read-interaction.ts'
import type { World } from '../../shared/world.ts'
import { decideApproval } from '../approvals/decide.ts'
import { requestOfClick } from './request-of-click.ts'

/**
 * Decides what somebody clicked, as that person, through the same door as everybody. What is refused changes nothing,
 * and only who clicked is told why. Delivered again it does nothing.
 */
export async function decideClick(world: World, tenant: string, click: SlackClick): Promise<void> {
  const request = requestOfClick(tenant, click)
  if ((await world.runs.noteRequest(request)) === 'done') return
  const refusal = await decide(world, tenant, click)
  if (refusal !== undefined) await tell(world, click, refusal)
  await world.runs.endRequest(request)
}

/** Why nothing was decided, in words for who clicked; undefined = it is decided as they wished. */
async function decide(world: World, tenant: string, click: SlackClick): Promise<string | undefined> {
  const run = runOf(tenant, click.approval_id)
  const item = await world.runs.approval(run, click.approval_id)
  if (item === undefined) return `There is no approval "${click.approval_id}" here.`
  if (!item.digest.startsWith(click.digest)) {
    const shown = Object.keys(item.shown).join(', ') || 'no values'
    return `What this approval shows is not what your message showed: it is now about ${shown}, with digest ${item.digest.slice(0, 12)}. Open the run and look at it again.`
  }
  const { approval_id, decision, feedback } = click
  const principal = personOf(world, tenant, click.user)
  const words = feedback === undefined ? {} : { feedback }
  try {
    await decideApproval(world, run, principal, { approval_id, decision, digest: item.digest, ...words }, 'slack')
    return undefined
  } catch (error) {
    if (!(error instanceof Fault) || error.name === 'Bug') throw error
    return isOwn(error, principal, decision) ? undefined : error.message
  }
}

/** `apr_<26 of the run id>_..` */
function runOf(tenant: string, approval_id: string): RunKey {
  return { tenant, run_id: `run_${approval_id.split('_')[1]}` }
}

/** By the name the settings give that member, if they do. */
function personOf({ settings }: World, tenant: string, user: string): Principal {
  const [, kind, id] = /^(user|iam|token):(.+)$/.exec(settings.slack?.users[user] ?? '') ?? []
  const scopes = ['approvals:decide']
  if (kind === undefined || id === undefined) return { kind: 'slack', id: user, tenant, scopes }
  // The pattern knows the kinds.
  return { kind: kind as Principal['kind'], id, tenant, scopes }
}

/** The same decision of the same person: an earlier delivery of this click, or an impatient second one. */
function isOwn({ code, facts }: Fault, principal: Principal, decision: SlackClick['decision']): boolean {
  if (code !== 'already_decided' || facts.decided_by !== principalName(principal)) return false
  return facts.status === (decision === 'reject' ? 'rejected' : 'approved')
}

async function tell({ slack, log }: World, { channel, user, approval_id }: SlackClick, why: string): Promise<void> {
  const words = `Nothing was decided. ${why}`
  try {
    if (slack === undefined) return
    const text = escaped(words, 300)
    await slack.call('chat.postEphemeral', { channel, user, text, blocks: asJson([block.text(words)]) })
  } catch (error) {
    // It is a courtesy: the approval waits as it did.
    log.error('person not told', { approval_id, error: String(error) })
  }
}
