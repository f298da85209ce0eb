import type { PortType } from '../dag/dag.ts'
import { HANDLER_PORTS, type HandlerPorts, writtenFormat } from '../dag/handlers.ts'
import { SEPARATORS, separatorSign } from '../table/delimited-text.ts'
import type { TableFormat } from '../table/read-rows.ts'
import type { Path } from '../text/source-position.ts'
import { listed, quoted } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import type { InputTypes } from './port-types.ts'
import type { Mapping, Reading } from './sections.ts'

/** What a handler demands beyond the schema of its config: the types of its ports, and keys that go together. */
export function checkHandler(reading: Reading, block: BlockDraft, types: InputTypes): void {
  const { work } = block
  if (work?.mode !== 'deterministic') return
  const demands = Object.hasOwn(HANDLER_PORTS, work.handler) ? HANDLER_PORTS[work.handler] : undefined
  if (demands !== undefined) {
    checkOutputs(reading, block, work.handler, demands.outputs)
    for (const [name, allowed] of Object.entries(demands.inputs ?? {})) {
      checkInput(reading, block, types, { handler: work.handler, name, allowed })
    }
  }
  checkTableConfig(reading, work, [...block.path, 'deterministic', 'config'])
}

function checkOutputs(reading: Reading, block: BlockDraft, handler: string, demands: HandlerPorts['outputs']) {
  const { outputs } = block
  const { types, one, beside = [] } = demands
  const allowed = `the handler "${handler}" fills ${one === true ? 'exactly one' : 'at least one'}, of type ${words(types)}`
  const names = [...outputs.keys()].filter((name) => outputs.size === 1 || !beside.includes(name))
  if (outputs.size === 0) refusePorts(reading, block.path, `has no output; ${allowed}`)
  else if (one === true && names.length > 1) {
    refusePorts(reading, [...block.path, 'outputs'], `has the outputs ${listed(outputs.keys())}; ${allowed}`)
  }
  for (const { type, path } of outputs.values()) {
    if (type === undefined || types.includes(type)) continue
    refuseType(reading, path, `is a ${type}; the handler "${handler}" fills ${words(types)}`)
  }
}

function refusePorts({ problems }: Reading, path: Path, text: string): void {
  problems.push({ code: 'handler_ports', path, on: 'key', say: ({ who }) => ({ text: `${who} ${text}` }) })
}

function refuseType({ problems }: Reading, path: Path, text: string): void {
  problems.push({ code: 'type_mismatch', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
}

function checkInput(
  reading: Reading,
  { inputs }: BlockDraft,
  types: InputTypes,
  {
    handler,
    name,
    allowed,
  }: { readonly handler: string; readonly name: string; readonly allowed: readonly PortType[] },
): void {
  const port = inputs.get(name)
  const type = port === undefined ? undefined : types.get(port)
  if (port === undefined || type === undefined || allowed.includes(type)) return
  refuseType(reading, port.path, `is a ${type}; the handler "${handler}" takes ${words(allowed)} there`)
}

function words(types: readonly PortType[]): string {
  return types.length === 1 ? String(types[0]) : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`
}

/** Keys of a table that say nothing about its format, or nothing by themselves. */
function checkTableConfig(
  reading: Reading,
  { handler, config }: { readonly handler: string; readonly config: Mapping },
  path: Path,
): void {
  if (handler !== 'read-table' && handler !== 'write-table') return
  const format = handler === 'write-table' ? writtenFormat(config) : config.format
  const isJson = format === 'json' || format === 'ndjson'
  for (const key of OF_DELIMITED.filter((key) => isJson && config[key] !== undefined)) {
    refuse(reading, [...path, key], `does not go with the format ${String(format)}: it is of csv and tsv. Remove it`)
  }
  const separator = separatorSign(String(config.separator ?? ''))
  if (format === ('tsv' satisfies TableFormat) && separator !== undefined && separator !== SEPARATORS.tab) {
    refuse(
      reading,
      [...path, 'separator'],
      'does not go with the format tsv, whose separator is a tab. Say format: csv',
    )
  }
  if (config.strict === true && config.columns === undefined) {
    refuse(reading, [...path, 'strict'], 'allows the columns of "columns" only, but there are none. Add "columns"')
  }
}

const OF_DELIMITED = ['separator', 'line_end', 'bom', 'formulas'] as const

function refuse({ problems }: Reading, path: Path, why: string): void {
  const key = quoted(String(path.at(-1)))
  problems.push({ code: 'invalid_value', path, on: 'key', say: ({ who }) => ({ text: `${who}: ${key} ${why}` }) })
}
