/** One secondary index; `include`: attributes beside the keys. */
export interface TableIndex {
  readonly name: string
  readonly hash: string
  readonly range: string
  readonly include: readonly string[]
}

/** Indexes are sparse: an item without both key attributes is not in one. */
export const RUN_INDEXES = {
  /** HEADs by tenant and time; `created` = created_at#run_id. */
  runs: { name: 'runs-by-time', hash: 'by_tenant', range: 'created', include: ['state', 'dag_name'] },
  /** HEADs somebody must look at, in shards, by check_at. */
  due: { name: 'runs-due', hash: 'due', range: 'check_at', include: [] },
  /**
   * A#: what people were asked, by tenant and time, in two partitions: what is open, by when it was asked, and what is
   * closed, by when that was. `inbox_at` = time#run_id#approval_id. A hint: HEAD decides.
   */
  approvals: { name: 'approvals-by-time', hash: 'inbox', range: 'inbox_at', include: [] },
} as const satisfies Readonly<Record<string, TableIndex>>

const indexes: readonly TableIndex[] = Object.values(RUN_INDEXES)

/**
 * Shape of the one table (docs/architecture.md, "The run store"). The run store writes these attributes; infra/aws and
 * the emulators make the table from them. Every key attribute is a string.
 */
export const RUN_TABLE = {
  hash: 'pk',
  range: 'sk',
  /** Seconds since 1970 after which DynamoDB may delete the item. */
  ttl: 'ttl',
  indexes,
} as const
