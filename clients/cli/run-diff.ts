import type { Command, CommandOptions } from 'commander'
import { LINEAGE_ROUTES } from '../../shared/api/lineage-routes.ts'
import { callApi, chooseTarget } from './api.ts'
import { diffLines } from './diff-lines.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addDiff(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('diff', hidden).description('two runs side by side: blocks, outputs, gates, cost, time'))
    .argument('<run-a>')
    .argument('<run-b>')
    .action(async (a: string, b: string, options: TargetOptions) => {
      const params = { path: { run_id: a, other_id: b } }
      const diff = await callApi(
        chooseTarget(session, options.url),
        LINEAGE_ROUTES['diff-runs'].answer.loose(),
        (api) => api.GET('/api/dag/runs/{run_id}/diff/{other_id}', { params }),
      )
      if (options.json === true) session.say(jsonText(diff, 2))
      else for (const line of diffLines(diff)) session.say(line)
    })
}
