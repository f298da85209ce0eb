import { type Command, Option } from 'commander'
import { RESTART_MODES } from '../../shared/runs/head.ts'
import { chooseTarget } from './api.ts'
import { requirePerson } from './ask-person.ts'
import { type DecideOptions, decideOne, type Result } from './decide-one.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { withTarget } from './target-options.ts'

export function addApprovalsDecide(parent: Command, session: Session): void {
  withTarget(parent.command('approve').description('show what is asked, and approve: each by itself'))
    .argument('<approval-id...>')
    .option('--feedback <text>', 'a remark recorded with each decision')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .action((ids: readonly string[], options: DecideOptions) => decideEach(session, 'approve', ids, options))
  const modes = new Option('--restart-mode <mode>', 'what that run is given: results and feedback, or feedback alone')
  withTarget(parent.command('reject').description('reject what is asked: each by itself'))
    .argument('<approval-id...>')
    .option('--feedback <text>', 'why: recorded with each decision')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .option('--iterate', 'another run takes the place of the run, where on_reject is iterate')
    .option('--no-iterate', 'the block fails all the same')
    .addOption(modes.choices(RESTART_MODES))
    .action((ids: readonly string[], options: DecideOptions) => decideEach(session, 'reject', ids, options))
}

/** One that cannot be decided is reported and hides no other; the exit code is 1 then. */
async function decideEach(
  session: Session,
  decision: 'approve' | 'reject',
  ids: readonly string[],
  options: DecideOptions,
): Promise<void> {
  requirePerson(session, decision, options.yes === true)
  const target = chooseTarget(session, options.url)
  const results: Result[] = []
  for (const id of new Set(ids)) {
    const result = await decideOne(session, target, decision, id, options)
    results.push(result)
    if (options.json !== true && !result.decided) session.warn(`${id}: NOT decided [${result.code}] ${result.detail}`)
  }
  if (options.json === true) session.say(jsonText({ results }, 2))
  if (results.some(({ decided }) => !decided)) process.exitCode = 1
}
