import type { ColumnType } from 'kysely';

/** A `timestamptz`. */
export type Moment = ColumnType<Date, Date, Date>;
/** One that may be missing. */
export type Maybe = ColumnType<Date | null, Date | null | undefined, Date | null>;
/** Part of what a row is sealed to. 0 = sealed before there were versions. */
export type Version = ColumnType<number, number | undefined, number>;
