import { type Command, Option } from 'commander'
import type { NewGateOptions } from '../documents/gate-types.ts'
import type { Session } from '../terminal/session.ts'
import { DAG_MODES } from './dag-template.ts'
import type { NewDagOptions } from './write-dag.ts'
import type { InitOptions } from './write-project.ts'

/** `sluice init`: a project whose DAG runs at once. */
export function addInit(parent: Command, session: Session): void {
  parent
    .command('init')
    .description(
      'write a project: a DAG that runs offline, a step, a gate, cases, an evaluation, settings, schemas, CI',
    )
    .argument('[folder]', 'where; it may hold other files', '.')
    .option('--force', 'write over files of the same names; no other file is touched')
    .option('--json', 'print JSON')
    .action(async (folder: string, options: InitOptions) => {
      const { writeProject } = await import('./write-project.ts')
      writeProject(session, folder, options)
    })
}

/** `sluice new ..`: the beginning of a document or a gate. */
export function addNew(parent: Command, session: Session): void {
  const group = parent.command('new').description('begin a DAG or a gate, valid from the first line')
  addNewDag(group, session)
  addNewGate(group, session)
}

function addNewDag(parent: Command, session: Session): void {
  parent
    .command('dag')
    .description('write a new document into the folder of documents')
    .argument('<name>', 'name of the DAG and of its file')
    .option('--blocks <ids>', 'its blocks, one after the other, separated by commas (default: draft,publish)')
    .addOption(new Option('--mode <mode>', 'what its blocks are (default: ai)').choices(DAG_MODES))
    .addOption(
      new Option('--from <example>', 'a copy of a document shipped with the package').conflicts(['blocks', 'mode']),
    )
    .option('--force', 'write over a file of that name')
    .option('--json', 'print JSON')
    .action(async (name: string, options: NewDagOptions) => {
      const { writeDag } = await import('./write-dag.ts')
      writeDag(session, name, options)
    })
}

function addNewGate(parent: Command, session: Session): void {
  parent
    .command('gate')
    .description('print a gate to paste below post_gates (or pre_gates) of a block')
    .argument('<name>', 'what the gate is called: verdicts and people see it')
    .requiredOption('--type <type>', 'what it checks; `gates list` has all types')
    .option('--port <port>', 'output (or input) it looks at')
    .option('--json', 'print JSON')
    .action(async (name: string, options: NewGateOptions) => {
      const { printNewGate } = await import('../documents/gate-types.ts')
      printNewGate(session, name, options)
    })
}
