import type { Command } from 'commander'
import { readPort } from '../place/start.ts'
import type { Session } from '../terminal/session.ts'
import type { DevOptions } from './dev.ts'

/** `sluice dev`: the local place of a project that is being written. */
export function addDev(parent: Command, session: Session): void {
  parent
    .command('dev')
    .description('start the local place, and check and reload documents, steps, gates and settings as they are saved')
    .option('--rerun', 'start the last run again at each save that changes it, from the first block that changed')
    .option('--no-open', 'do not open the console (it is opened on a terminal only)')
    .option('--port <n>', 'port to listen on (default: sluice.yaml, else 4040; 0 = any free one)', readPort)
    .option('--data-dir <dir>', 'folder of runs and objects (default: sluice.yaml, else .sluice)')
    .option('--inputs-dir <dir>', 'folder runs may read files from (default: sluice.yaml, else inputs)')
    .option('--login', 'ask every call for a secret made at this start, in the address it prints')
    .option('--no-login', 'ask nothing, also on a terminal of another user (where --login is the default)')
    .action(async (options: DevOptions) => {
      const { runDev } = await import('./dev.ts')
      process.exitCode = await runDev(session, options)
    })
}
