import type { Command } from 'commander'
import type { LoggedLine } from './aws/find-logs.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import type { StageOptions } from './stage-options.ts'
import { wholeNumber } from './whole-number.ts'

interface LogsOptions extends StageOptions {
  readonly stage: string
  readonly hours: number
  readonly limit: number
  readonly json?: true
}

/** `sluice logs RUN`: what the functions and machines of a deployment wrote about a run. */
export function addLogs(parent: Command, session: Session): void {
  parent
    .command('logs')
    .description('what the functions of a deployment logged about a run (CloudWatch)')
    .argument('<run-id>')
    .requiredOption('--stage <name>', 'the stage of the deployment')
    .option('--profile <name>', 'AWS profile to use (default: AWS_PROFILE, else as the AWS tools choose)')
    .option('--region <name>', 'AWS region (default: AWS_REGION, else that of the profile)')
    .option('--hours <n>', 'how far back to look, at most the 720 that logs are kept', wholeNumber(1, 720), 24)
    .option('--limit <n>', 'at most so many lines, the newest', wholeNumber(1, 100_000), 1_000)
    .option('--json', 'print one JSON object a line')
    .action((run: string, options: LogsOptions) => logs(session, run, options))
}

async function logs(session: Session, run: string, { stage, hours: back, limit, json, ...options }: LogsOptions) {
  if (!/^[\w-]{1,128}$/.test(run)) throw usage(`"${run}" is no id of a run.`)
  const { findLogs } = await import('./aws/find-logs.ts')
  const since = Date.now() - back * 3_600_000
  const lines = await findLogs({ stage, text: run, since, limit, ...options })
  if (lines.length === 0) {
    session.warn(
      `Nothing was logged about ${run} in ${back} hours. What it did is in \`${session.settings.command} run events ${run} --stack ${stage}\`.`,
    )
  }
  for (const line of lines) await session.write(`${json === true ? jsonText(line) : shown(line)}\n`)
}

/** `2026-11-22T20:04:09.120Z run-block error the table is away {..}`; a line that is no JSON stands as it is. */
function shown({ at, group, text }: LoggedLine): string {
  // The machines share one group, whose name is the stage's.
  const name = group.startsWith('/aws/lambda/') ? group.replace(/^.*\/sluice-[a-z0-9]+-/, '') : 'machine'
  const start = `${new Date(at).toISOString()} ${name}`
  const said = factsOf(text)
  if (said === undefined) return plainText(`${start} ${text}`)
  const { at: _at, level = '', message = said.type ?? '', stage: _stage, function: _function, _aws, ...facts } = said
  return plainText([start, level, message, jsonText(facts)].filter((part) => part !== '').join(' '))
}

function factsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
