import type * as z from 'zod'
import { HANDLERS } from '../dag/handlers.ts'
import { COMPOSITIONS, type Composition, PART_LIMITS } from '../gates/check-composition.ts'
import { MODULE_PATTERN } from '../gates/gate-module.ts'
import { findGate, gateTypes } from '../gates/registry.ts'
import { CRITERION_KINDS } from '../goals/criteria/registry.ts'
import { ContractHeadSchema } from '../goals/goal-contract.ts'
import { type Schema, schemaMembers } from '../text/json-schema.ts'
import { PARTS, type Section, WORDS } from './schema-parts.ts'
import { SECTIONS } from './sections.ts'

/**
 * JSON Schema (draft 2020-12) of a DAG document, for editors and other programs. It is made from the very sections the
 * parser reads by: what is right for parseDag is right here. The other way round it knows shapes, not graphs: names
 * that do not exist, cycles and types across wires are found by parseDag alone.
 */
export function documentSchema(): Schema {
  const { document, ...sections } = Object.fromEntries(SECTION_NAMES.map((name) => [name, sectionSchema(name)]))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Sluice DAG document',
    ...document,
    $defs: { ...sections, check: checkSchema(), contract: contractSchema() },
  }
}

// The keys of SECTIONS are its sections; Object.keys answers plain texts.
const SECTION_NAMES = Object.keys(SECTIONS) as Section[]

function sectionSchema(name: Section): Schema {
  const words = WORDS[name]
  const parts: Readonly<Record<string, Schema>> = PARTS[name]?.keys ?? {}
  const { properties, required } = schemaMembers(SECTIONS[name])
  const described = Object.entries(properties).map(([key, schema]): [string, Schema] => {
    return [key, { description: words.keys[key] ?? '', ...(parts[key] ?? schema) }]
  })
  const also = name === 'deterministic' ? { allOf: handlerRules() } : PARTS[name]?.rules
  return {
    description: words.section,
    type: 'object',
    properties: Object.fromEntries(described),
    required: [...new Set([...required, ...(PARTS[name]?.required ?? [])])],
    additionalProperties: false,
    ...also,
  }
}

/** The config of each handler is that handler's own schema. */
function handlerRules(): readonly Schema[] {
  return Object.entries(HANDLERS).map(([handler, schema]) => ({
    anyOf: [{ properties: { handler: { not: { const: handler } } } }, { properties: { config: objectSchema(schema) } }],
  }))
}

/** A check is one of the gate kinds, each with its own parameters, or composes other checks; any of them negated. */
function checkSchema(): Schema {
  const kinds = gateTypes().map((type): Schema => {
    const gate = findGate(type)
    const { properties, required } = gate === undefined ? NOTHING : schemaMembers(gate.params)
    return {
      title: type,
      description: gate?.summary ?? '',
      properties: { type: { const: type }, not: NOT, ...properties },
      required: ['type', ...required],
      additionalProperties: false,
    }
  })
  const named = { description: 'The kind of gate.', enum: [...gateTypes(), ...NAMES] }
  const type = { anyOf: [named, MODULE_PATH] }
  return { type: 'object', properties: { type }, anyOf: [...kinds, MODULE_CHECK, ...NAMES.map(compositionSchema)] }
}

/** A module of the project has parameters that only it knows. */
const MODULE_PATH: Schema = {
  description: 'A gate of the project: a module below the folder of sluice.yaml (docs/gates.md, "A gate of your own").',
  type: 'string',
  pattern: MODULE_PATTERN,
}
const MODULE_CHECK: Schema = {
  title: 'a gate of the project',
  properties: { type: MODULE_PATH, not: { type: 'boolean', default: false } },
  required: ['type'],
}

// The keys of COMPOSITIONS are its names; Object.keys answers plain texts.
const NAMES = Object.keys(COMPOSITIONS) as Composition[]
const NOTHING = { properties: {}, required: [] }
const NOT: Schema = { type: 'boolean', default: false, description: 'True: passes where it would fail.' }

function compositionSchema(composition: Composition): Schema {
  const { list, words } = COMPOSITIONS[composition]
  const parts = { type: 'array', items: { $ref: '#/$defs/check' }, minItems: 1, maxItems: PART_LIMITS.leaves }
  const count: Schema = list === composition ? {} : { [composition]: { type: 'integer', minimum: 1 } }
  return {
    title: composition,
    description: words,
    properties: { type: { const: composition }, not: NOT, ...count, [list]: parts },
    required: [...Object.keys(count), list],
    additionalProperties: false,
  }
}

function objectSchema(schema: z.ZodType): Schema {
  const { properties, required } = schemaMembers(schema)
  return { type: 'object', properties, required, additionalProperties: false }
}

/** JSON Schema of a goal contract, made of the schemas it is read by: its head, and one a kind of criterion. */
export function contractSchema(): Schema {
  const { properties, required } = schemaMembers(ContractHeadSchema)
  const criteria = { type: 'array', minItems: 1, items: { anyOf: CRITERION_KINDS.map(criterionSchema) } }
  return {
    description: 'What a run is to reach, and how that is seen (docs/goal-gates.md).',
    type: 'object',
    properties: { ...properties, acceptance_criteria: criteria },
    required,
    additionalProperties: false,
  }
}

/** A target may be what the run is started with. */
const RUN_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

function criterionSchema({ kind, summary, schema }: (typeof CRITERION_KINDS)[number]): Schema {
  const { properties, required } = schemaMembers(schema)
  const { target } = properties
  const open = target === undefined ? {} : { target: { anyOf: [target, RUN_INPUT] } }
  const all = { ...properties, ...open }
  return { title: kind, description: summary, type: 'object', properties: all, required, additionalProperties: false }
}
