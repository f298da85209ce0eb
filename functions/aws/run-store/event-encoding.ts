import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { as, corruptItem, from, type Item } from './item-encoding.ts'

/**
 * How HEAD and the pages of a run are written, from its birth to its end (docs/adr/0079): 1, texts of events and every
 * lane by its name; 2, packed events (`log` in the place of `tail`) and completed lanes in groups (lanes.ts).
 */
export type Layout = 1 | 2

/** Of HEAD, with `v` among what was read. */
export function layoutOf(head: Item): Layout {
  return head.v?.N === '2' ? 2 : 1
}

/** The attribute of HEAD with the events since `base`: of another name, so that a writer of before never takes part. */
export function tailName(layout: Layout): 'tail' | 'log' {
  return layout === 1 ? 'tail' : 'log'
}

/** The events of one append as HEAD takes them. */
export interface TailPart {
  readonly layout: Layout
  /** As many members as there are events: their place gives the seq. */
  readonly entries: AttributeValue
  readonly bytes: number
}

export function tailPart(texts: readonly string[], layout: Layout): TailPart {
  if (layout === 1) {
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    return { layout, entries: as.list(texts), bytes }
  }
  const packed = packTexts(texts)
  const others = texts.slice(1).map((): AttributeValue => ({ NULL: true }))
  return { layout, entries: { L: [as.bytes(packed), ...others] }, bytes: packed.byteLength }
}

/** How many events wait in HEAD; and their texts, one an event, for who asks. */
export function readTail(head: Item): { readonly waiting: number; tail(): readonly string[] } {
  const name = tailName(layoutOf(head))
  const { L = corruptItem(head, name) } = head[name] ?? {}
  const texts = (): readonly string[] => {
    if (name === 'tail') return from.list(head, name)
    const unpacked = L.flatMap(({ B }) => (B === undefined ? [] : unpackTexts(head, name, B)))
    return unpacked.length === L.length ? unpacked : corruptItem(head, name)
  }
  return { waiting: L.length, tail: texts }
}

/** What a page holds, for its attribute `events`: packed as a whole, which is half of what its parts are. */
export function pageEntries(texts: readonly string[], layout: Layout): AttributeValue {
  return layout === 1 ? as.list(texts) : as.bytes(packTexts(texts))
}

export function readPage(page: Item): readonly string[] {
  const { B } = page.events ?? {}
  return B === undefined ? from.list(page, 'events') : unpackTexts(page, 'events', B)
}

/**
 * A byte that names the words; the CRC-32 of the rest, big-endian, since deflate does not tell every changed bit; and the
 * JSON texts, a line each, in raw deflate behind those words.
 */
function packTexts(texts: readonly string[]): Uint8Array {
  const packed = deflateRawSync(texts.join('\n'), PACKING)
  const check = Buffer.alloc(CHECK_BYTES)
  check.writeUInt32BE(crc32(packed))
  return Buffer.concat([FIRST, check, packed])
}

function unpackTexts(item: Item, name: string, bytes: Uint8Array): readonly string[] {
  const whole = Buffer.from(bytes)
  const packed = whole.subarray(1 + CHECK_BYTES)
  if (packed.length === 0 || whole[0] !== FIRST[0] || whole.readUInt32BE(1) !== crc32(packed)) {
    return corruptItem(item, name)
  }
  try {
    return inflateRawSync(packed, UNPACKING).toString('utf8').split('\n')
  } catch (error) {
    return corruptItem(item, name, error)
  }
}

const CHECK_BYTES = 4

/** Far above what a tail may hold: an item that somebody changed by hand does not fill the memory. */
const MOST_BYTES = 4_194_304

const FIRST = Buffer.from([1])

/**
 * What most events say, the most usual last. Stored events cannot be read without it: it never changes, and a better one
 * gets the next first byte.
 */
const WORDS = [
  '{"type":"run:completed","data":{"code":"completed","reason":"all  blocks completed","spent":{"tokens":,"usd_micros":0}}}',
  '"type":"block:skipped","data":{"code":"upstream_failed","reason":"block \\"","type":"block:failed","data":{"code":"',
  '"type":"block:retrying","data":{"code":"gate_failed","reason":"","due_at":"2026-","feedback":["',
  '"type":"approval:requested","data":{"approval_id":"apr_","digest":"","expires_at":"2026-',
  '"type":"approval:decided","data":{"approval_id":"apr_","decision":"approved","by":"user:',
  '"type":"budget:reserved","block_id":"","attempt":1,"data":{"tokens":,"usd_micros":',
  '"type":"block:gate","block_id":"","attempt":1,"data":{"gate":"","type":"min_length","phase":"post","status":"passed",',
  '"reason":"has  characters, at least  asked","input_hash":"","facts":{"length":},"duration_ms":0.',
  // The sha256 of {}: of inputs, parameters and contexts there are none of.
  '"context_version":0,"params_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",',
  '"block:output","block_id":"","attempt":1,"data":{"outputs":{"text":{"ref":"objstore://main/","sha256":"","bytes":',
  '}},"provider":"","params_hash":"","prompt_hash":"","model":"","tokens_in":,"tokens_out":,"usd_micros":0,',
  '"finish_reason":"stop","raw_ref":"objstore://main/","latency_ms":',
  '}}\n{"id":"/1090/1","at":"2026-11-27T10:","block_id":"","attempt":1,"type":"block:completed","data":{}}',
  '{"w":"","id":"0/1090/0","at":"2026-11-27T10:00:00.000Z","type":"block:',
  '{"w":"","id":"0/1010/0","at":"2026-11-27T10:00:00.000Z","type":"block:ready","block_id":"","data":{}}\n{"id":"',
  '/1010/1","at":"2026-11-27T10:00:00.000Z","type":"block:started","block_id":"","attempt":1,"data":{"inputs_hash":"',
  '","context_version":0,"holder":"","lease_until":"2026-11-27T10:00:00.000Z"}}',
].join('')

const dictionary = Buffer.from(WORDS)
/** Small windows and buffers: most appends are some hundred bytes, and what zlib allocates is what packing costs. */
const PACKING = { dictionary, level: 9, windowBits: 12, memLevel: 4, chunkSize: 2_048 }
/** Any window, whatever packs them one day. */
const UNPACKING = { dictionary, windowBits: 15, chunkSize: 4_096, maxOutputLength: MOST_BYTES }
