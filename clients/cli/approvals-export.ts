import type { Command } from 'commander'
import { chooseTarget, type Target } from './api.ts'
import { fetchApprovals } from './fetch-approvals.ts'
import { fetchAudit } from './fetch-audit.ts'
import { jsonText } from './json-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface ExportOptions extends TargetOptions {
  readonly run?: string
  readonly since?: string
}

export function addApprovalsExport(parent: Command, session: Session): void {
  withTarget(parent.command('export').description('the record of every decision as JSON lines, oldest first a run'))
    .option('--run <run-id>', 'of this run only')
    .option('--since <time>', 'only what happened then or later: 2026-01-31, or with a time 2026-01-31T12:00:00Z')
    .action((options: ExportOptions) => exportAudit(session, options))
}

async function exportAudit(session: Session, { url, run, since }: ExportOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const from = since === undefined ? undefined : timeOf(since)
  const runs = run === undefined ? runsAsked(target, from) : [run]
  for await (const id of runs) {
    const lines = (await fetchAudit(target, id)).filter(({ at }) => from === undefined || at >= from)
    if (lines.length > 0) await session.write(lines.map((line) => `${jsonText(line)}\n`).join(''))
  }
}

function timeOf(since: string): string {
  const read = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(since) ? Date.parse(since) : Number.NaN
  if (Number.isFinite(read)) return new Date(read).toISOString()
  throw usage(
    `Cannot use --since "${since}": a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z, is needed.`,
  )
}

/** Every run that asked people something; with `from` those in which something was open or was closed since. */
async function* runsAsked(target: Target, from: string | undefined): AsyncGenerator<string> {
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const query = { status: 'all', values: 'refs', limit: 100, ...(cursor !== undefined && { cursor }) } as const
    const { approvals, next_cursor } = await fetchApprovals(target, query)
    for (const { run_id, status, decided_at = '' } of approvals) {
      // Nothing happens to an approval after it is closed.
      if (status !== 'pending' && from !== undefined && decided_at < from) continue
      if (seen.has(run_id)) continue
      seen.add(run_id)
      yield run_id
    }
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
}
