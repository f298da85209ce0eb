import type { Command } from 'commander'
import type { Session } from './session.ts'
import type { InitOptions } from './write-project.ts'

/** `sluice init`: a project whose DAG runs at once. */
export function addInit(parent: Command, session: Session): void {
  parent
    .command('init')
    .description('write a project: a DAG that runs offline, settings, an input, schemas, CI')
    .argument('[folder]', 'where; it may hold other files', '.')
    .option('--force', 'write over files of the same names; no other file is touched')
    .option('--json', 'print JSON')
    .action(async (folder: string, options: InitOptions) => {
      const { writeProject } = await import('./write-project.ts')
      writeProject(session, folder, options)
    })
}
