import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { artifactLines } from './artifacts.ts'
import { commandLine } from './command-line.ts'
import { followEvents } from './follow-events.ts'
import { jsonText } from './json-text.ts'
import { endWords, exitCodeOf } from './run-end.ts'
import type { Session } from './session.ts'
import { sinkTexts } from './sink-outputs.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { watchRun } from './watch-run.ts'

export function addWatch(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('watch', hidden).description('follow a run to its end; --json prints an event a line'))
    .argument('<run-id>')
    .action((runId: string, options: TargetOptions) => watch(session, runId, options))
}

async function watch(session: Session, runId: string, options: TargetOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  if (options.json !== true) {
    const ended = await watchRun(session, target, { runId })
    const more = (block: string) => commandLine(session, target, `run output ${runId} ${block}`)
    const left = [...(await sinkTexts(target, ended, more)), ...(await artifactLines(session, target, runId))]
    for (const line of [endWords(ended), ...left]) session.say(line)
    process.exitCode = exitCodeOf(ended.run.state)
    return
  }
  let last = ''
  for await (const event of followEvents(target, { runId })) {
    last = event.type
    await session.write(`${jsonText(event)}\n`)
  }
  process.exitCode = exitCodeOf(last.slice('run:'.length))
}
