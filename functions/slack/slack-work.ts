import * as z from 'zod'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { asJson, block, escaped } from '../../shared/slack/block-kit.ts'
import { clickIdempotencyKey, type SlackClick } from '../../shared/slack/interaction.ts'
import type { World } from '../../shared/world.ts'
import { decideApproval } from '../approvals/decide.ts'
import { functionHandler } from '../handler.ts'
import { tellRun } from './tell-run.ts'

const text = z.string().min(1)

const ClickSchema = z.strictObject({
  team: text,
  user: text,
  channel: text,
  message_ts: text,
  at: text,
  approval_id: text,
  decision: z.enum(['approve', 'reject', 'waive']),
  follows: z.exactOptional(z.enum(['rest', 'stop'])),
  digest: text,
  feedback: text.optional(),
})

/** What Slack is owed after the answer: the decision somebody clicked, and what a run has to say. */
export const handler = functionHandler({
  name: 'slack-work',
  input: z.union([
    z.strictObject({ tenant: text, click: ClickSchema }),
    z.strictObject({ run: z.strictObject({ tenant: text, run_id: text }), entry: text }),
    z.strictObject({ erased: z.strictObject({ channel: text, ts: text }) }),
  ]),
  async run(work, world) {
    if ('erased' in work) return deleteMessage(world, work.erased)
    if (!('click' in work)) return tellRun(world, work.run)
    const { feedback, ...click } = work.click
    await decideClick(world, work.tenant, feedback === undefined ? click : { ...click, feedback })
    return {}
  },
})

/** The message of a run that was erased; one that is not there any more is deleted. */
async function deleteMessage(world: World, { channel, ts }: { readonly channel: string; readonly ts: string }) {
  try {
    await world.slack?.call('chat.delete', { channel, ts })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'slack_message_not_found') throw error
  }
  return {}
}

/**
 * Decides what somebody clicked, as that person, through the same door as everybody. What is refused changes nothing,
 * and only who clicked is told why. Delivered again it does nothing.
 */
async function decideClick(world: World, tenant: string, click: SlackClick): Promise<void> {
  const request = clickIdempotencyKey(tenant, click)
  if ((await world.runs.noteRequest(request)) === 'done') return
  const refusal = await decide(world, tenant, click)
  if (refusal !== undefined) await tell(world, click, `Nothing was decided. ${refusal}`)
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
  const { approval_id } = click
  const principal = personOf(world, tenant, click.user)
  const wish = { approval_id, digest: item.digest, ...wishOf(click) }
  try {
    await whileAway(world, () => decideApproval(world, run, principal, wish))
    return undefined
  } catch (error) {
    if (!(error instanceof Fault) || error.name === 'Bug') throw error
    if (error.name === 'Unavailable') {
      await tell(world, click, UNKNOWN)
      throw error
    }
    if (!(await isOwn(world, run, click, { error, principal }))) return error.message
    // Who decided may have died before it said so: the run need not wait for the sweeper.
    await world.outbox.nudge(run)
    return undefined
  }
}

function wishOf({ decision, follows, feedback }: SlackClick) {
  return { decision, ...(feedback === undefined ? {} : { feedback }), ...(follows && FOLLOWS[follows]) }
}

/** As the API has it. */
const FOLLOWS = { rest: { allow_rest: true }, stop: { stop: true } } as const

const UNKNOWN =
  'The record of this run does not answer: it is not known whether this was decided. Click again if the message keeps its buttons.'
const TRIES = 3
const PAUSE_MS = 1_000

/** A store that is away for a moment refuses nothing; what it took without saying so is seen as made by the next try. */
async function whileAway(world: World, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work()
      return
    } catch (error) {
      if (!(error instanceof Fault) || error.name !== 'Unavailable' || tries === TRIES) throw error
      await world.clock.delay(PAUSE_MS)
    }
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
  const via = 'slack'
  if (kind === undefined || id === undefined) return { kind: 'slack', id: user, tenant, scopes, via }
  // The pattern knows the kinds. Whatever it names, one member of the workspace is one person.
  return { kind: kind as Principal['kind'], id, tenant, scopes, via, person: `${kind}:${id}` }
}

/** The same decision, or vote, of the same person: an earlier delivery of this click, or an impatient second one. */
async function isOwn(
  { runs }: World,
  run: RunKey,
  { approval_id, decision }: SlackClick,
  { error, principal }: { readonly error: Fault; readonly principal: Principal },
): Promise<boolean> {
  const { code, facts } = error
  const name = principalName(principal)
  const isYes = decision !== 'reject'
  const isSame = code === 'already_decided' && facts.status === (isYes ? 'approved' : 'rejected')
  if (isSame && facts.decided_by === name) return true
  if (!isYes || !(isSame || code === 'already_voted')) return false
  const votes = (await runs.head(run, []))?.approvals[approval_id]?.votes ?? []
  return votes.some(({ by, via }) => by === name && via === 'slack')
}

async function tell({ slack, log }: World, { channel, user, approval_id }: SlackClick, words: string): Promise<void> {
  try {
    if (slack === undefined) return
    const text = escaped(words, 300)
    await slack.call('chat.postEphemeral', { channel, user, text, blocks: asJson([block.text(words)]) })
  } catch (error) {
    // It is a courtesy: the approval waits as it did.
    log.error('person not told', { approval_id, error: String(error) })
  }
}
