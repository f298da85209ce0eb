import type { Command } from 'commander'

/** Arguments that are called the same everywhere are explained once; a command that says more keeps its own words. */
export function describeArguments(command: Command): void {
  for (const argument of command.registeredArguments) {
    if (argument.description === '') argument.description = SAYS[argument.name()] ?? ''
  }
}

const RUN = 'id of a run, as `run list` shows it'

const SAYS: Readonly<Record<string, string>> = {
  'run-id': RUN,
  'run-a': RUN,
  'run-b': 'the run it is compared with',
  'approval-id': 'id of an approval, as `approvals list` shows it',
  'entity-id': 'id of an entity, as `graph search` shows it',
  'entity-ids': 'ids of entities, as `graph search` shows them',
  file: 'a DAG document, YAML or JSON',
  question: 'in words; quotes are not needed',
}
