import { Fault } from '../../shared/errors.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shownBudget } from '../../shared/runs/shown-budget.ts'
import type { AskedInSlack } from '../../shared/slack/approval-message.ts'
import type { World } from '../../shared/world.ts'

/** Larger values are not fetched for a message that shows a page of them. */
const MOST_BYTES = 65_536
/** More are not shown (approval-message.ts says how many are left out). */
const MOST_VALUES = 8

/** What a question shows whatever becomes of it: read once, since it takes its time. */
export interface Question {
  readonly run: RunKey
  readonly item: ApprovalItem
  readonly dag_name: string
  readonly shown: AskedInSlack['shown']
}

export async function readQuestion(world: World, run: RunKey, item: ApprovalItem): Promise<Question> {
  const meta = await world.runs.meta(run)
  const shown = await Promise.all(
    Object.entries(item.shown).map(async ([name, value], i) => ({
      name,
      bytes: value.bytes,
      text: i < MOST_VALUES && value.bytes <= MOST_BYTES ? await readText(world, run, value) : undefined,
    })),
  )
  return { run, item, dag_name: meta?.dag_name ?? '', shown }
}

/** The question as HEAD has it, with everything its message says. Reads nothing while it is pending. */
export async function readAsked(world: World, question: Question, head: Head): Promise<AskedInSlack> {
  const { run, item, dag_name, shown } = question
  const approval = approvalNow(head, item)
  const budget = shownBudget(head.budget)
  return {
    item,
    approval,
    run_id: run.run_id,
    dag_name,
    cost: { tokens: budget.spent_tokens, usd: budget.spent_usd },
    shown,
    feedback: approval.feedback_ref === undefined ? undefined : await readObject(world, run, approval.feedback_ref),
    users: world.settings.slack?.users ?? {},
    open_url: openUrl(world, run),
  }
}

/** The end of a run is the end of what it asked; HEAD does not say so of each. */
function approvalNow(head: Head, item: ApprovalItem): HeadApproval {
  const { id, block, expires_at, digest } = item
  const known: HeadApproval = head.approvals[id] ?? { block, status: 'cancelled', expires_at, digest }
  return head.state !== 'running' && known.status === 'pending' ? { ...known, status: 'cancelled' } : known
}

/** A text as it is, everything else as JSON. */
async function readText(world: World, run: RunKey, { ref }: StoredValue): Promise<string | undefined> {
  const json = await readObject(world, run, ref)
  if (json === undefined) return undefined
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

async function readObject({ objects }: World, { tenant }: RunKey, ref: string): Promise<string | undefined> {
  try {
    return Buffer.from(await objects.get(tenant, ref)).toString('utf8')
  } catch (error) {
    if (error instanceof Fault && error.code === 'object_missing') return undefined
    throw error
  }
}

function openUrl({ settings: { slack } }: World, { run_id }: RunKey): string | undefined {
  if (slack?.open_url !== undefined) return slack.open_url.replaceAll('{run_id}', run_id)
  return slack?.url === undefined ? undefined : `${slack.url.replace(/\/+$/, '')}/api/dag/runs/${run_id}`
}
