import type { Notification, Pool } from 'pg';
import type { ConstructorOptions } from 'pg-boss';

/** The queue's way to the embedded engine, whose one session everybody shares. */
export function shareSession(pool: Pool): NonNullable<ConstructorOptions['db']> {
  return {
    async executeSql(text, values = []) {
      const client = await pool.connect();
      try {
        // Several statements at once have no values, and a result each.
        const results = [await (values.length > 0 ? client.query(text, values) : client.query(text))].flat();
        return { rows: results.flatMap(({ rows }) => rows) };
      } catch (error) {
        // Of several statements the first may have begun a transaction: others must not get into it.
        if (client.getTransactionStatus() !== 'I') await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    async listen(channel, onNotification, onReconnect) {
      const client = await pool.connect();
      const hear = ({ channel: other, payload = '' }: Notification): void => {
        if (other === channel) onNotification(payload);
      };
      client.on('notification', hear);
      await client.query(`listen ${client.escapeIdentifier(channel)}`).finally(() => client.release());
      onReconnect();
      return {
        async close() {
          client.off('notification', hear);
          await pool.query(`unlisten ${client.escapeIdentifier(channel)}`);
        },
      };
    },
  };
}
